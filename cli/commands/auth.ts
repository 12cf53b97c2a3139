/** `auth`: who we are and what we may do. Mirrors kubectl `cmd/auth`. */
import type { AnyObject } from '../../machinery/api/object.ts';
import { CliError, Quiet } from '../errors.ts';
import { objectPrinter } from '../printers/output.ts';
import { RememberingTable } from '../printers/tabwriter.ts';
import type { Session } from '../session.ts';
import type { Verb } from '../verb.ts';
import { ALL_NAMESPACES_FLAG, OUTPUT_FLAGS } from '../verb-flags.ts';

interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: string[];
  readonly extra?: Record<string, string[]>;
}

const whoami: Verb = {
  usage: '[flags]',
  flags: OUTPUT_FLAGS,
  run: async (session) => {
    const print = await objectPrinter(session.flags, { typed: true });
    const body = {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: null },
      status: { userInfo: {} },
    };
    const review = await session.api.json<AnyObject>({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body });
    if (print) return session.out(print(review));
    const { username, uid, groups = [], extra = {} } = (review.status as { userInfo?: UserInfo }).userInfo ?? {};
    const rows = [['ATTRIBUTE', 'VALUE']];
    if (username) rows.push(['Username', username]);
    if (uid) rows.push(['UID', uid]);
    if (groups.length > 0) rows.push(['Groups', `[${groups.join(' ')}]`]);
    for (const key of Object.keys(extra).sort()) rows.push([`Extra: ${key}`, `[${extra[key].join(' ')}]`]);
    session.out(new RememberingTable().format(rows));
  },
};

const canI: Verb = {
  usage: 'VERB [TYPE | TYPE/NAME | NONRESOURCEURL]',
  flags: {
    ...ALL_NAMESPACES_FLAG,
    list: { type: 'boolean', help: 'If true, prints all allowed actions' },
    quiet: { type: 'boolean', short: 'q', help: 'If true, suppress output and just return the exit code' },
    subresource: { type: 'string', help: 'SubResource such as pod/log or deployment/scale' },
    'no-headers': { type: 'boolean', help: 'If true, prints allowed actions without headers' },
  },
  run: mayI,
};

async function mayI(session: Session, args: readonly string[]): Promise<void> {
  const { flags } = session;
  if (flags.bool('list')) return listRules(session);
  if (args.length < 2 || args.length > 3)
    throw new CliError(
      "you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'kubectl auth can-i -h' for help and examples.".replace(
        'kubectl',
        session.verb.split(' ')[0],
      ),
    );
  const spec = await accessSpec(session, args);
  const body = {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec,
    status: { allowed: false },
  };
  const review = await session.api.json<AnyObject>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body,
  });
  const { allowed, reason, evaluationError } = review.status as { allowed: boolean; reason?: string; evaluationError?: string };
  const why = [reason, evaluationError].filter((text) => text).join(' - ');
  if (!flags.bool('quiet')) session.line(allowed ? 'yes' : `no${why === '' ? '' : ` - ${why}`}`);
  if (!allowed) throw new Quiet(1);
}

async function accessSpec(session: Session, [verb, target, third]: readonly string[]): Promise<Record<string, unknown>> {
  if (target.startsWith('/')) return { nonResourceAttributes: { path: target, verb } };
  const [type, slashName] = target.split('/');
  const name = slashName ?? third;
  const resource = type === '*' ? undefined : (await session.mapper()).find(type);
  if (type !== '*' && !resource) session.err(`Warning: the server doesn't have a resource type '${type}'\n`);
  else if (resource && !resource.namespaced)
    session.err(
      `Warning: resource '${resource.resource}' is not namespace scoped${resource.group === '' ? '' : ` in group '${resource.group}'`}\n`,
    );
  const namespace = session.flags.bool('all-namespaces') ? undefined : session.namespace().name;
  const subresource = session.flags.string('subresource');
  return {
    resourceAttributes: {
      ...(namespace && (resource?.namespaced ?? true) && { namespace }),
      verb,
      ...(resource?.group && { group: resource.group }),
      resource: resource?.resource ?? type,
      ...(subresource && { subresource }),
      ...(name && { name }),
    },
  };
}

interface Rule {
  readonly verbs?: string[];
  readonly apiGroups?: string[];
  readonly resources?: string[];
  readonly resourceNames?: string[];
  readonly nonResourceURLs?: string[];
}

async function listRules(session: Session): Promise<void> {
  const body = {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: { namespace: session.namespace().name },
  };
  const review = await session.api.json<AnyObject>({ method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', body });
  const { resourceRules = [], nonResourceRules = [] } = review.status as { resourceRules?: Rule[]; nonResourceRules?: Rule[] };
  const list = (items: readonly string[] | undefined): string => `[${(items ?? []).join(' ')}]`;
  const named = resourceRules.flatMap((rule) =>
    (rule.resources ?? []).flatMap((resource) =>
      (rule.apiGroups ?? []).map((group) => [
        resource === '*' && group === '*' ? '*.*' : group === '' ? resource : `${resource}.${group}`,
        '[]',
        list(rule.resourceNames),
        list(rule.verbs),
      ]),
    ),
  );
  const urls = nonResourceRules.map((rule) => ['', list(rule.nonResourceURLs), '[]', list(rule.verbs)]);
  const header = session.flags.bool('no-headers') ? [] : [['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']];
  session.out(new RememberingTable().format([...header, ...named.sort((a, b) => (a[0] < b[0] ? -1 : 1)), ...urls]));
}

export const verb: Verb = {
  usage: 'SUBCOMMAND',
  verbs: {
    'can-i': { summary: 'Check whether an action is allowed', load: async () => canI },
    whoami: { summary: 'Experimental: Check self subject attributes', load: async () => whoami },
  },
};
