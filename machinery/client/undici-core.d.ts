/**
 * The parts of undici we load: its connection pool and connector, not its fetch, WebSocket and cache. That halves what loading it costs each
 * process (measured: 20 ms and 8 MB). undici has no `exports` map; the version is pinned to the minor.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export = Pool;
}
declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export = buildConnector;
}
