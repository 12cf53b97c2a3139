/**
 * DeviceClass: a kind of device to ask for. Mirrors kubernetes `pkg/registry/resource/deviceclass`.
 */
import type { DeviceClass } from '../../../machinery/api/types/resource.k8s.io.v1.ts';
import { defineKind } from '../define.ts';

export const deviceclass = defineKind<DeviceClass>({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  kind: 'DeviceClass',
  generation: 'spec',
  deleteAnswer: 'object',
});
