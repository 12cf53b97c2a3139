import { storeSuite } from '../suite.ts';
import { createMemoryStore } from './store.ts';

storeSuite('memory', { create: async () => createMemoryStore() });
