/** How far a rollout is, in kubectl's sentences. Mirrors kubectl `polymorphichelpers/rollout_status.go`. Pure. */

import type { AnyObject } from '../../machinery/api/object.ts';
import type { DaemonSet, Deployment, StatefulSet } from '../../machinery/api/types/apps.v1.ts';
import { REVISION } from '../../machinery/api/well-known-labels.ts';
import { CliError } from '../errors.ts';

export interface RolloutState {
  readonly text: string;
  readonly done: boolean;
}

const going = (text: string): RolloutState => ({ text, done: false });

/** Throws when the rollout has failed. `revision` 0 means the newest. */
export function rolloutState(object: AnyObject, revision: number): RolloutState {
  if (object.kind === 'Deployment') return deploymentState(object as unknown as Deployment, revision);
  if (object.kind === 'DaemonSet') return daemonSetState(object as unknown as DaemonSet);
  return statefulSetState(object as unknown as StatefulSet);
}

function deploymentState({ metadata, spec = {} as Deployment['spec'], status = {} }: Deployment, revision: number): RolloutState {
  const name = metadata?.name ?? '';
  if (revision > 0) {
    const current = Number(metadata?.annotations?.[REVISION] ?? Number.NaN);
    if (revision !== current) throw new CliError(`desired revision (${revision}) is different from the running revision (${current})`);
  }
  if ((metadata?.generation ?? 0) > (status.observedGeneration ?? 0))
    return going('Waiting for deployment spec update to be observed...\n');
  const progressing = status.conditions?.find((condition) => condition.type === 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') throw new CliError(`deployment "${name}" exceeded its progress deadline`);
  const wanted = spec?.replicas;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const waiting = `Waiting for deployment "${name}" rollout to finish:`;
  if (wanted !== undefined && updatedReplicas < wanted)
    return going(`${waiting} ${updatedReplicas} out of ${wanted} new replicas have been updated...\n`);
  if (replicas > updatedReplicas) return going(`${waiting} ${replicas - updatedReplicas} old replicas are pending termination...\n`);
  if (availableReplicas < updatedReplicas)
    return going(`${waiting} ${availableReplicas} of ${updatedReplicas} updated replicas are available...\n`);
  return { text: `deployment "${name}" successfully rolled out\n`, done: true };
}

function daemonSetState({ metadata, spec, status }: DaemonSet): RolloutState {
  const name = metadata?.name ?? '';
  if (spec?.updateStrategy?.type !== 'RollingUpdate')
    throw new CliError('rollout status is only available for RollingUpdate strategy type');
  if ((metadata?.generation ?? 0) > (status?.observedGeneration ?? 0))
    return going('Waiting for daemon set spec update to be observed...\n');
  const desired = status?.desiredNumberScheduled ?? 0;
  const updated = status?.updatedNumberScheduled ?? 0;
  const available = status?.numberAvailable ?? 0;
  const waiting = `Waiting for daemon set "${name}" rollout to finish:`;
  if (updated < desired) return going(`${waiting} ${updated} out of ${desired} new pods have been updated...\n`);
  if (available < desired) return going(`${waiting} ${available} of ${desired} updated pods are available...\n`);
  return { text: `daemon set "${name}" successfully rolled out\n`, done: true };
}

function statefulSetState({ metadata, spec, status }: StatefulSet): RolloutState {
  if (spec?.updateStrategy?.type !== 'RollingUpdate')
    throw new CliError('rollout status is only available for RollingUpdate strategy type');
  if ((status?.observedGeneration ?? 0) === 0 || (metadata?.generation ?? 0) > (status?.observedGeneration ?? 0))
    return going('Waiting for statefulset spec update to be observed...\n');
  const replicas = spec.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const updated = status?.updatedReplicas ?? 0;
  if (ready < replicas) return going(`Waiting for ${replicas - ready} pods to be ready...\n`);
  const partition = spec.updateStrategy.rollingUpdate?.partition ?? 0;
  if (partition > 0) {
    if (updated < replicas - partition)
      return going(`Waiting for partitioned roll out to finish: ${updated} out of ${replicas - partition} new pods have been updated...\n`);
    return { text: `partitioned roll out complete: ${updated} new pods have been updated...\n`, done: true };
  }
  if (status?.updateRevision !== status?.currentRevision)
    return going(`waiting for statefulset rolling update to complete ${updated} pods at revision ${status?.updateRevision}...\n`);
  return {
    text: `statefulset rolling update complete ${status?.currentReplicas ?? 0} pods at revision ${status?.currentRevision}...\n`,
    done: true,
  };
}
