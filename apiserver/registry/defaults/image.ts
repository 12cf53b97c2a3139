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

/** What cannot be a reference has no tag to go by. */
const REFERENCE = /^[a-zA-Z0-9][a-zA-Z0-9._:@/-]*$/;

export const defaultPullPolicy = (image: string | undefined): 'Always' | 'IfNotPresent' =>
  image !== undefined && REFERENCE.test(image) && isLatest(image) ? 'Always' : 'IfNotPresent';
