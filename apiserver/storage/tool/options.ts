/** The flags of the store's tools. */
import { defineOptions } from '../../../machinery/process/options.ts';

const dataDir = { type: 'string', default: '.flyball', help: 'data directory of the API server; the store is in it' } as const;

export const checkOptions = defineOptions({ dataDir });
export const backupOptions = defineOptions({ dataDir });
export const restoreOptions = defineOptions({
  dataDir,
  bumpRevision: {
    type: 'integer',
    default: 0,
    min: 0,
    help: 'by how much the revision moves on: more than was written since the backup, or clients take old for new; 0: past all that was ever given, by the clock',
  },
});
