/** What each form of `--runtime-config` turns on and off, and the texts of those that make no sense. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedApi, versionWarning } from './served-api.ts';

const versionsOf = (settings: readonly string[], group: string): readonly string[] =>
  servedApi(settings).groups.find((info) => info.group === group)?.versions ?? [];

test('by default only stable versions are served', () => {
  const { resources, missing } = servedApi([]);
  assert.ok(resources.every(({ version }) => /^v\d+$/.test(version)));
  assert.deepEqual(missing, []);
});

const VERSIONS: readonly (readonly [setting: string, group: string, versions: readonly string[]])[] = [
  ['networking.k8s.io/v1beta1=true', 'networking.k8s.io', ['v1', 'v1beta1']],
  ['networking.k8s.io/v1beta1', 'networking.k8s.io', ['v1', 'v1beta1']],
  ['networking.k8s.io/v1beta1=T', 'networking.k8s.io', ['v1', 'v1beta1']],
  ['networking.k8s.io/v1=false', 'networking.k8s.io', []],
  ['networking.k8s.io/v1=0,networking.k8s.io/v1beta1=1', 'networking.k8s.io', ['v1beta1']],
  ['api/beta=true', 'admissionregistration.k8s.io', ['v1', 'v1beta1']],
  ['api/all=true', 'admissionregistration.k8s.io', ['v1', 'v1beta1', 'v1alpha1']],
  ['api/all=true,api/alpha=false', 'admissionregistration.k8s.io', ['v1', 'v1beta1']],
  ['api/beta=true,storage.k8s.io/v1beta1=false', 'storage.k8s.io', ['v1']],
  ['api/all=false,apps/v1=true', 'apps', ['v1']],
  ['api/all=false,apps/v1=true', 'batch', []],
  ['api/all=false,batch/v1/jobs=true', 'batch', ['v1']],
  ['/v1=false', '', []],
  ['autoscaling/v2=false', 'autoscaling', ['v1']],
  ['authentication.k8s.io/v1beta1=true', 'authentication.k8s.io', ['v1']],
  ['apps/v1beta1=true', 'apps', ['v1']],
];
for (const [setting, group, versions] of VERSIONS) {
  test(`${setting} serves ${group || 'the core group'} in ${versions.join(', ') || 'no version'}`, () => {
    assert.deepEqual(versionsOf(setting.split(','), group), versions);
  });
}

test('a resource can be turned on or off by itself', () => {
  const names = (settings: readonly string[], version: string): string[] =>
    servedApi(settings)
      .resources.filter((info) => info.group === 'networking.k8s.io' && info.version === version)
      .map((info) => info.plural);
  assert.deepEqual(names(['networking.k8s.io/v1beta1/servicecidrs=true'], 'v1beta1'), ['servicecidrs']);
  assert.ok(!names(['networking.k8s.io/v1/ingresses=false'], 'v1').includes('ingresses'));
});

const REFUSED: readonly (readonly [settings: string, text: string | RegExp])[] = [
  ['api/all=false', 'invalid key with only api/all=false'],
  ['foo', 'runtime-config invalid key foo'],
  ['a/b/c/d=true', 'runtime-config invalid key a/b/c/d'],
  ['foo/v1=true', 'unknown api groups foo'],
  ['api/v1=true', 'unknown api groups api'],
  ['api/all=yes', 'invalid value api/all=yes'],
  ['api/ga', 'invalid value api/ga='],
  ['apps/v9=true', 'group version apps/v9 that has not been registered'],
  ['apps/v1=maybe', 'invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'],
  [
    'apps/v1/Deployments=false',
    'invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"',
  ],
  [
    'coordination.k8s.io/v1beta1=true',
    /^--runtime-config: coordination.k8s.io\/v1beta1 cannot be served here: nothing is known of leasecandidates/,
  ],
  ['resource.k8s.io/v1beta2/devicetaintrules=true', /cannot be served here: nothing is known of devicetaintrules/],
];
for (const [settings, text] of REFUSED) {
  test(`${settings} is refused`, () => {
    const matches = (error: Error): boolean => (typeof text === 'string' ? error.message === text : text.test(error.message));
    assert.throws(() => servedApi(settings.split(',')), matches);
  });
}

test('what is left out of a version that was asked for is named', () => {
  assert.deepEqual(servedApi(['resource.k8s.io/v1beta2=true']).missing, ['resource.k8s.io/v1beta2/devicetaintrules']);
  assert.ok(servedApi(['api/all=true']).missing.includes('scheduling.k8s.io/v1alpha2/workloads'));
});

test('deprecated versions say since when, until when, and what to use where upstream says so', () => {
  const info = (setting: string, kind: string, version: string) =>
    servedApi([setting]).resources.find((found) => found.kind === kind && found.version === version)!;
  assert.equal(
    versionWarning(info('storage.k8s.io/v1beta1', 'VolumeAttributesClass', 'v1beta1')),
    'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
  );
  assert.equal(
    versionWarning(info('networking.k8s.io/v1beta1', 'IPAddress', 'v1beta1')),
    'networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+',
  );
  assert.equal(versionWarning(info('api/beta=true', 'MutatingAdmissionPolicy', 'v1beta1')), undefined);
});
