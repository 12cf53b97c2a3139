/**
 * The kinds that have a file of their own. Adding a kind is adding its file and a line here.
 */
import { controllerrevision } from './apps/controllerrevision.ts';
import { deployment } from './apps/deployment.ts';
import { replicaset } from './apps/replicaset.ts';
import { configmap } from './core/configmap.ts';
import { namespace } from './core/namespace.ts';
import { pod } from './core/pod.ts';
import { secret } from './core/secret.ts';
import { serviceKind } from './core/service.ts';
import type { RegistryDeps, ResourceDefinition } from './resource.ts';

export function builtinKinds(deps: RegistryDeps): readonly ResourceDefinition[] {
  return [configmap, namespace, secret, pod, serviceKind(deps), controllerrevision, deployment, replicaset];
}
