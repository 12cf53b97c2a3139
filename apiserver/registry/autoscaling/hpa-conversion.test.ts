/** Autoscaler conversion between v1 and v2: nothing a user wrote in one version is lost in the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../machinery/api/object.ts';
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from '../../../machinery/api/types/autoscaling.v2.ts';
import { hpaFromV2, hpaToV2 } from './hpa-conversion.ts';

const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } };
const describedObject = { kind: 'Ingress', name: 'i' };
const NAME_OF_PODS = '"metricName":"m"';
const SELECTOR = '{"matchLabels":{"a":"b"}}';

function annotationsOf(metrics: MetricSpec[], currentMetrics: MetricStatus[]): Record<string, string> {
  const status = { currentMetrics, desiredReplicas: 1 };
  const v2 = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'x' }, spec: { metrics }, status };
  return hpaFromV2(v2 as never).metadata.annotations as Record<string, string>;
}

describe('metrics of autoscaling/v2 in the annotations of v1', () => {
  const cases: [MetricSpec, string, MetricStatus, string][] = [
    [
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '2' } } },
      '{"type":"Resource","resource":{"name":"memory","targetAverageValue":"2"}}',
      { type: 'Resource', resource: { name: 'memory', current: { averageUtilization: 3 } } },
      '{"type":"Resource","resource":{"name":"memory","currentAverageUtilization":3,"currentAverageValue":"0"}}',
    ],
    [
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 5 } },
      },
      '{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":5,"container":"c"}}',
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', current: { averageValue: '1' } } },
      '{"type":"ContainerResource","containerResource":{"name":"cpu","currentAverageValue":"1","container":"c"}}',
    ],
    [
      { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '2' } } },
      `{"type":"Pods","pods":{${NAME_OF_PODS},"targetAverageValue":"2","selector":${SELECTOR}}}`,
      { type: 'Pods', pods: { metric, current: {} } },
      `{"type":"Pods","pods":{${NAME_OF_PODS},"currentAverageValue":"0","selector":${SELECTOR}}}`,
    ],
    [
      { type: 'Object', object: { metric, describedObject, target: { type: 'AverageValue', averageValue: '2' } } },
      `{"type":"Object","object":{"target":{"kind":"Ingress","name":"i"},"metricName":"m","targetValue":"0","selector":${SELECTOR},"averageValue":"2"}}`,
      { type: 'Object', object: { metric, describedObject, current: { value: '7' } } },
      `{"type":"Object","object":{"target":{"kind":"Ingress","name":"i"},"metricName":"m","currentValue":"7","selector":${SELECTOR}}}`,
    ],
    [
      { type: 'External', external: { metric, target: { type: 'Value', value: '9' } } },
      `{"type":"External","external":{"metricName":"m","metricSelector":${SELECTOR},"targetValue":"9"}}`,
      { type: 'External', external: { metric, current: { averageValue: '4' } } },
      `{"type":"External","external":{"metricName":"m","metricSelector":${SELECTOR},"currentValue":"0","currentAverageValue":"4"}}`,
    ],
  ];
  for (const [wanted, wantedText, found, foundText] of cases) {
    it(`keep what there is of ${wanted.type}, in upstream's order, and come back`, () => {
      const annotations = annotationsOf([wanted], [found]);
      assert.equal(annotations['autoscaling.alpha.kubernetes.io/metrics'], `[${wantedText}]`);
      assert.equal(annotations['autoscaling.alpha.kubernetes.io/current-metrics'], `[${foundText}]`);
      const v1 = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'x', annotations }, spec: {} };
      const back = hpaToV2(v1 as never).spec.metrics ?? [];
      assert.deepEqual(
        back.map((one) => Object.keys(one)),
        [Object.keys(wanted)],
      );
    });
  }
});

describe('an autoscaler of v1', () => {
  const PREFIX = 'autoscaling.alpha.kubernetes.io/';
  const inV2 = (annotations: Record<string, string>, spec: object = {}, status?: object): HorizontalPodAutoscaler =>
    hpaToV2({
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'x', annotations: Object.fromEntries(Object.entries(annotations).map(([key, text]) => [PREFIX + key, text])) },
      spec,
      ...(status && { status }),
    } as never);
  const inV1 = (spec: object, status: object = {}): KubeObject & { spec: object; status?: object } =>
    hpaFromV2({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'x' }, spec, status } as never) as never;
  const cpu = (averageUtilization: number): object => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  });

  it('loses an annotation that has not the shape of its type, whole', () => {
    for (const text of [
      '5',
      '{}',
      '[5]',
      '[[]]',
      '[{"type":1}]',
      '[{"type":"Pods","pods":[]}]',
      '[{"type":"Pods","pods":{"targetAverageValue":"x"}}]',
    ]) {
      assert.deepEqual(inV2({ metrics: text }).spec.metrics, [cpu(80)], text);
    }
    for (const text of ['[]', '{}', '{"ScaleUp":5}', '{"ScaleUp":{"Policies":{}}}', '{"ScaleDown":null}']) {
      assert.equal(inV2({ behavior: text }).spec.behavior, undefined, text);
    }
    assert.deepEqual(inV2({ metrics: 'null' }, { targetCPUUtilizationPercentage: 7 }).spec.metrics, [cpu(7)]);
  });

  it('has no policies but those that the annotation names', () => {
    const { behavior } = inV2({ behavior: '{"scaleUp":{"StabilizationWindowSeconds":5}}' }).spec;
    assert.deepEqual(behavior, { scaleUp: { stabilizationWindowSeconds: 5, policies: [] } });
  });

  it('takes a source as it stands, whatever the type says', () => {
    assert.deepEqual(inV2({ metrics: '[{"type":"Pods","resource":{"name":"memory"}},null]' }).spec.metrics, [
      { type: 'Pods', resource: { name: 'memory', target: { type: 'AverageValue' } } },
      { type: '' },
    ]);
    const object = '{"type":"Object","object":{"target":{"kind":"I","name":"i"},"metricName":"m","averageValue":"2"}}';
    assert.deepEqual(inV2({ metrics: `[${object}]` }).spec.metrics?.[0]?.object?.target, {
      type: 'AverageValue',
      value: '0',
      averageValue: '2',
    });
  });

  it('counts the figure of its status only when the annotation says nothing', () => {
    const status = { currentReplicas: 1, currentCPUUtilizationPercentage: 9 };
    assert.deepEqual(inV2({}, {}, status).status?.currentMetrics, [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 9 } } },
    ]);
    assert.equal(inV2({ 'current-metrics': '[]' }, {}, status).status?.currentMetrics, undefined);
    const pods = inV2({ 'current-metrics': '[{"type":"Pods","pods":{"metricName":"m","selector":{}}}]' }, {}, status);
    assert.deepEqual(pods.status?.currentMetrics, [
      { type: 'Pods', pods: { metric: { name: 'm', selector: {} }, current: { averageValue: '0' } } },
    ]);
  });

  it('shows the first target of the processor and forgets the others', () => {
    const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1<2' } } };
    const { spec, metadata } = inV1({ metrics: [memory, cpu(50), cpu(60)] });
    assert.deepEqual(spec, { targetCPUUtilizationPercentage: 50 });
    assert.deepEqual(metadata.annotations, {
      [`${PREFIX}metrics`]: '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1\\u003c2"}}]',
    });
  });

  it('shows the last figure of the processor', () => {
    const found = (averageUtilization?: number): object => ({
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization } },
    });
    const { status } = inV1({}, { currentMetrics: [found(1), found(2), found(undefined)] });
    assert.deepEqual(status, { currentCPUUtilizationPercentage: 2 });
  });
});
