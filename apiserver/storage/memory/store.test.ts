/** The memory store passes the suite of every backend. */
import { storeSuite } from '../suite.ts';
import { createMemoryStore } from './store.ts';

storeSuite('memory', { create: async () => createMemoryStore() });
