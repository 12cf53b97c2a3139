/** Words that name resources, and the mistakes in them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Mapper, type Resource } from '../discovery/mapper.ts';
import { parseResourceWords } from './arguments.ts';

const resource = (group: string, plural: string, kind: string, rest: Partial<Resource> = {}): Resource => ({
  group,
  version: 'v1',
  resource: plural,
  kind,
  namespaced: true,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  verbs: ['get', 'list'],
  subresources: [],
  ...rest,
});

const mapper = new Mapper({
  groups: [],
  resources: [
    resource('', 'pods', 'Pod', { shortNames: ['po'], categories: ['all'] }),
    resource('', 'services', 'Service', { shortNames: ['svc'], categories: ['all'] }),
    resource('', 'events', 'Event', { shortNames: ['ev'] }),
    resource('apps', 'deployments', 'Deployment', { shortNames: ['deploy'], categories: ['all'] }),
    resource('events.k8s.io', 'events', 'Event', { shortNames: ['ev'] }),
  ],
});
const shown = (words: string): string =>
  parseResourceWords(words.split(' '), mapper)
    .wanted.map(({ resource: r, name }) => `${r.resource}.${r.group}${name === undefined ? '' : `/${name}`}`)
    .join(' ');

describe('words that name resources', () => {
  const cases: [words: string, wanted: string][] = [
    ['pods', 'pods.'],
    ['po web db', 'pods./web pods./db'],
    ['po,svc', 'pods. services.'],
    ['po,svc x', 'pods./x services./x'],
    ['deploy/web svc/web', 'deployments.apps/web services./web'],
    ['Deployment', 'deployments.apps'],
    ['deployment.apps/web', 'deployments.apps/web'],
    ['deployments.v1.apps', 'deployments.apps'],
    ['events.v1.', 'events.'],
    ['events.events.k8s.io', 'events.events.k8s.io'],
    ['all', 'pods. services. deployments.apps'],
    ['po/a po/a', 'pods./a'],
  ];
  for (const [words, wanted] of cases) test(words, () => assert.equal(shown(words), wanted));

  const mistakes: [words: string, message: RegExp][] = [
    ['nope', /^the server doesn't have a resource type "nope"$/],
    ['pods a/b', /^there is no need to specify a resource type as a separate argument/],
    ['a/b/c', /^arguments in resource\/name form may not have more than one slash$/],
    ['pods/', /^arguments in resource\/name form must have a single resource and name$/],
  ];
  for (const [words, message] of mistakes) test(words, () => assert.throws(() => shown(words), { message }));
});
