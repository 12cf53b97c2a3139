/** Go templates: a table of templates and what they print. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileGoTemplate } from './template.ts';

const VALUE = { name: 'web', n: 3, list: [{ a: 'x' }, { a: 'y' }], map: { k1: 'v1', k2: 'v2' }, data: { p: 'cHc=' }, empty: [], no: null };
const run = (template: string, allowMissing = true): string => compileGoTemplate(template, { allowMissing }).print(VALUE);

describe('Go templates print', () => {
  const cases: [template: string, output: string][] = [
    ['{{.name}}', 'web'],
    ['{{.name}}{{"\\n"}}', 'web\n'],
    ['{{.missing}}', '<no value>'],
    ['{{.list}}', '[map[a:x] map[a:y]]'],
    ['{{range .list}}{{.a}},{{end}}', 'x,y,'],
    ['{{range $i, $e := .list}}{{$i}}={{$e.a}} {{end}}', '0=x 1=y '],
    ['{{range $k, $v := .map}}{{$k}}:{{$v}};{{end}}', 'k1:v1;k2:v2;'],
    ['{{range .empty}}x{{else}}none{{end}}', 'none'],
    ['{{range .list}}{{if eq .a "y"}}{{break}}{{end}}{{.a}}{{end}}', 'x'],
    ['{{if .no}}a{{else if eq .n 3}}b{{else}}c{{end}}', 'b'],
    ['{{with .map}}{{.k1}}{{$.name}}{{end}}', 'v1web'],
    ['{{$x := .name}}{{$x}}-{{$x | printf "%5s"}}', 'web-  web'],
    ['{{ .name -}}   {{- .n }}', 'web3'],
    ['{{/* said to nobody */}}{{.n}}', '3'],
    ['{{len .list}}{{index .map "k2"}}{{(index .list 1).a}}', '2v2y'],
    ['{{printf "%s-%d-%v-%q" .name .n true "a"}}', 'web-3-true-"a"'],
    ['{{and .name .no}}{{or .no .name}}{{not .no}}', '<no value>webtrue'],
    ['{{.data.p | base64decode}}', 'pw'],
    ['{{if and (gt .n 2) (lt .n 4)}}between{{end}}', 'between'],
    ['{{exists . "map" "k1"}}', 'true'],
    ['{{`raw`}}', 'raw'],
  ];
  for (const [template, output] of cases) test(template, () => assert.equal(run(template), output));

  test('a missing member is an error when asked to', () => {
    assert.throws(() => run('{{.missing}}', false), /map has no entry for key "missing"/);
  });
  for (const template of ['{{.a', '{{range .list}}', '{{end}}', '{{nope .a}}'])
    test(`${template} is refused`, () => assert.throws(() => run(template)));
});
