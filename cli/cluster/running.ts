/** Finds the running cluster that the cluster verbs act on: the data directory given, or the nearest `.flyball`. */
import { resolve } from 'node:path';
import type { ClusterControl } from '../../cluster/cluster.ts';
import { connectCluster } from '../../cluster/control.ts';
import type { FlagTable } from '../flags.ts';
import { nearest } from '../options.ts';
import type { Session } from '../session.ts';

export const DATA_DIR = '.flyball';

export const DATA_DIR_FLAG: FlagTable = {
  'data-dir': { type: 'string', help: `The data directory of the cluster; without it the nearest ${DATA_DIR} here or in a folder above` },
};

export function dataDirOf(session: Session): string {
  const given = session.flags.string('data-dir');
  const { cwd } = session.deps.surroundings;
  return given !== '' ? resolve(cwd, given) : (nearest(cwd, DATA_DIR) ?? resolve(cwd, DATA_DIR));
}

export const runningCluster = (session: Session): ClusterControl => connectCluster(dataDirOf(session));
