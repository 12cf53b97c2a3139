/** Fields behind gates that are off are stored neither in pods nor in what makes pods, whether they are created or updated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepClone } from '../../machinery/api/equality.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { daemonset } from './apps/daemonset.ts';
import { deployment } from './apps/deployment.ts';
import { replicaset } from './apps/replicaset.ts';
import { statefulset } from './apps/statefulset.ts';
import { cronjob } from './batch/cronjob.ts';
import { job } from './batch/job.ts';
import { pod } from './core/pod.ts';
import { podtemplate } from './core/podtemplate.ts';
import { replicationcontroller } from './core/replicationcontroller.ts';
import type { Strategy, StrategyContext } from './resource.ts';

const SPEC = {
  schedulingGroup: { podGroupName: 'g' },
  containers: [{ name: 'c', image: 'i', lifecycle: { stopSignal: 'SIGTERM' } }],
  initContainers: [{ name: 'd', image: 'i', lifecycle: { stopSignal: 'SIGTERM', preStop: { sleep: { seconds: 1 } } } }],
  volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }, { secret: { name: 's' } }] } }],
};
const KEPT = {
  containers: [{ name: 'c', image: 'i' }],
  initContainers: [{ name: 'd', image: 'i', lifecycle: { preStop: { sleep: { seconds: 1 } } } }],
  volumes: [{ name: 'v', projected: { sources: [{}, { secret: { name: 's' } }] } }],
};
const template = (spec: object): object => ({ metadata: { labels: { a: 'b' } }, spec });
const workload = (spec: object): object => ({ spec: { template: template(spec) } });

const CASES: readonly (readonly [{ readonly kind: string; readonly strategy: Strategy<never> }, (spec: object) => object])[] = [
  [deployment, workload],
  [replicaset, workload],
  [daemonset, workload],
  [statefulset, workload],
  [replicationcontroller, workload],
  [job, workload],
  [cronjob, (spec) => ({ spec: { jobTemplate: { spec: { template: template(spec) } } } })],
  [podtemplate, (spec) => ({ template: template(spec) })],
  [pod, (spec) => ({ spec })],
];

/** Whatever else the kind adds. */
function specIn(object: object): Record<string, unknown> {
  const { spec, template: own } = object as { spec?: Record<string, unknown>; template?: object };
  if (own) return specIn(own);
  const inner = spec?.['template'] ?? spec?.['jobTemplate'];
  return inner === undefined ? spec! : specIn(inner as object);
}

for (const [{ kind, strategy }, make] of CASES) {
  test(`a ${kind} is stored without them`, () => {
    const named = (spec: object): KubeObject => ({ metadata: { name: 'x', uid: 'u' }, ...deepClone(make(spec)) }) as unknown as KubeObject;
    const context = { now: new Date(0) } as StrategyContext;
    const rules = strategy as unknown as Strategy;
    const created = named(SPEC);
    rules.prepareForCreate!(created, context);
    const updated = named(SPEC);
    rules.prepareForUpdate!(updated, named(KEPT), context);
    for (const object of [created, updated]) {
      const spec = specIn(object);
      assert.equal(spec['schedulingGroup'], undefined);
      for (const [member, value] of Object.entries(KEPT)) assert.deepEqual(spec[member], value);
    }
  });
}
