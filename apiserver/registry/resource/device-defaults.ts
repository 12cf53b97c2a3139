/**
 * Defaults of device requests. Mirrors kubernetes `pkg/apis/resource/v1/defaults.go`.
 */
import type { DeviceToleration, ResourceClaimSpec } from '../../../machinery/api/types/resource.k8s.io.v1.ts';

interface Request {
  allocationMode?: string;
  count?: number;
  tolerations?: DeviceToleration[];
}

export function defaultClaimSpec(spec: ResourceClaimSpec | undefined): void {
  for (const request of spec?.devices?.requests ?? []) {
    if (request.exactly) defaultRequest(request.exactly as Request);
    for (const alternative of request.firstAvailable ?? []) defaultRequest(alternative as Request);
  }
}

function defaultRequest(request: Request): void {
  if (!request.allocationMode) request.allocationMode = 'ExactCount';
  if (request.allocationMode === 'ExactCount' && !request.count) request.count = 1;
  for (const toleration of request.tolerations ?? []) if (!toleration.operator) toleration.operator = 'Equal';
}
