/** `create configmap NAME [--from-literal=k=v] [--from-file=[key=]path] [--from-env-file=path]`. Values that are not UTF-8 go to binaryData. */
import { isUtf8 } from 'node:buffer';
import { DATA_FLAGS, readData, sortedEntries } from './data.ts';
import { generatorVerb } from './generator.ts';

export const verb = generatorVerb({
  usage: 'NAME [--from-file=[key=]source] [--from-literal=key1=value1]',
  flags: DATA_FLAGS,
  resource: { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true },
  noun: 'configmap',
  build: ({ flags }) => {
    const entries = sortedEntries(readData(flags));
    const text = entries.filter(([, value]) => isUtf8(value));
    const binary = entries.filter(([, value]) => !isUtf8(value));
    return {
      body: {
        ...(text.length > 0 && { data: Object.fromEntries(text.map(([key, value]) => [key, value.toString('utf8')])) }),
        ...(binary.length > 0 && { binaryData: Object.fromEntries(binary.map(([key, value]) => [key, value.toString('base64')])) }),
      },
    };
  },
});
