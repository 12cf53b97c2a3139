/**
 * The pull policy that follows from an image reference. Mirrors kubernetes `util/parsers` ParseImageName as defaulting uses it.
 */

/** True for a reference whose tag is `latest`, written or implied. A digest alone pins the image. */
export function isLatest(image: string): boolean {
  const at = image.indexOf('@');
  const named = at < 0 ? image : image.slice(0, at);
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  if (colon < 0) return at < 0;
  return named.slice(colon + 1) === 'latest';
}

export const defaultPullPolicy = (image: string | undefined): 'Always' | 'IfNotPresent' =>
  isLatest(image ?? '') ? 'Always' : 'IfNotPresent';
