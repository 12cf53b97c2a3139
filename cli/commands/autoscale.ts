/** `autoscale`: makes a HorizontalPodAutoscaler for a workload. Mirrors kubectl `cmd/autoscale`. */
import { CliError, usageError } from '../errors.ts';
import { assemble, createGenerated } from '../generators/generator.ts';
import { actOnEach, fetchObjects } from '../resources/fetch.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { DRY_RUN_FLAG, FILE_FLAGS, managerFlag, OUTPUT_FLAGS } from '../verb-flags.ts';

const AUTOSCALERS = {
  group: 'autoscaling',
  version: 'v1',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
};

export const verb: Verb = {
  usage: '(-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu-percent=CPU]',
  flags: {
    ...FILE_FLAGS,
    ...OUTPUT_FLAGS,
    ...DRY_RUN_FLAG,
    ...managerFlag('kubectl-autoscale'),
    min: { type: 'integer', default: -1, help: 'The lower limit for the number of pods that can be set by the autoscaler' },
    max: { type: 'integer', default: -1, help: 'The upper limit for the number of pods that can be set by the autoscaler. Required' },
    'cpu-percent': { type: 'integer', default: -1, help: 'The target average CPU utilization over all the pods' },
    name: { type: 'string', help: 'The name for the newly created object' },
    'save-config': { type: 'boolean', help: 'If true, the configuration of current object will be saved in its annotation' },
  },
  run: autoscale,
};

async function autoscale(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (!flags.changed('max')) throw new CliError('required flag(s) "max" not set');
  const [min, max, cpu] = [flags.integer('min'), flags.integer('max'), flags.integer('cpu-percent')];
  if (max < 1) throw usageError(session.verb, `--max=MAXPODS is required and must be at least 1, max: ${max}`);
  if (max < min) throw usageError(session.verb, `--max=MAXPODS must be larger or equal to --min=MINPODS, max: ${max}, min: ${min}`);
  const { found, errors } = await fetchObjects(session, args, { needsNames: true });
  await actOnEach(found, errors, async ({ object, name }) => {
    const spec = {
      scaleTargetRef: { kind: object.kind, name, apiVersion: object.apiVersion },
      ...(min > 0 && { minReplicas: min }),
      maxReplicas: max,
      ...(cpu > 0 && { targetCPUUtilizationPercentage: cpu }),
    };
    const made = { body: { spec, status: { currentReplicas: 0, desiredReplicas: 0 } } };
    await createGenerated(session, AUTOSCALERS, assemble(AUTOSCALERS, flags.string('name') || name, { made, session }));
  });
}
