/** `cluster-info`: where the control plane and the services labelled as part of the cluster are. */
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Session } from '../session.ts';
import { PROGRAM, type Verb } from '../verb.ts';

type Paint = (text: string) => string;

export const verb: Verb = { usage: '[flags]', run: clusterInfo };

async function clusterInfo(session: Session): Promise<void> {
  const { server } = session.target();
  const painted =
    (code: string): Paint =>
    (text) =>
      session.deps.isTerminal ? `\u001b[0;${code}m${text}\u001b[0m` : text;
  const [green, yellow] = [painted('32'), painted('33')];
  const namespace = session.flags.changed('namespace') ? session.namespace().name : 'kube-system';
  const services = await session.api.json<{ items: AnyObject[] }>({
    path: `/api/v1/namespaces/${namespace}/services`,
    query: { labelSelector: 'kubernetes.io/cluster-service=true' },
  });
  session.line(`${green('Kubernetes control plane')} is running at ${yellow(server)}`);
  for (const service of services.items ?? []) {
    const { name = '', labels = {} } = service.metadata;
    const [port] = (service.spec as { ports?: { name?: string; port: number }[] }).ports ?? [];
    const target = port?.name ? `${name}:${port.name}` : name;
    session.line(
      `${green(labels['kubernetes.io/name'] ?? name)} is running at ${yellow(`${server}/api/v1/namespaces/${namespace}/services/${target}/proxy`)}`,
    );
  }
  session.line(`\nTo further debug and diagnose cluster problems, use '${PROGRAM} cluster-info dump'.`);
}
