/** Autoscaler conversion between v1 and v2: nothing a user wrote in one version is lost in the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MetricSpec, MetricStatus } from '../../../machinery/api/types/autoscaling.v2.ts';
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
