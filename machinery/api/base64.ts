/** Base64 as Go's encoding/json takes it: line breaks are skipped, anything else wrong is named by its position. */

export class Base64Error extends Error {}

const CLEAN = /^[A-Za-z0-9+/]*={0,2}$/;

/** The standard form of what was sent. Throws Base64Error with Go's text. */
export function canonicalBase64(text: string): string {
  if (text.length % 4 !== 0 || !CLEAN.test(text) || text.endsWith('===')) {
    const offset = corruptAt(Buffer.from(text, 'utf8'));
    if (offset >= 0) throw new Base64Error(`illegal base64 data at input byte ${offset}`);
    return Buffer.from(text, 'base64').toString('base64');
  }
  // Bits behind the end are dropped: "QR==" is "QQ==".
  if (!text.endsWith('=')) return text;
  return text.slice(0, -4) + Buffer.from(text.slice(-4), 'base64').toString('base64');
}

const isBreak = (byte: number | undefined): boolean => byte === 10 || byte === 13;

function isDigit(byte: number): boolean {
  return (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte === 43 || byte === 47;
}

/** The offset Go complains of, or -1. Works in groups of four characters as Go's decoder does. */
function corruptAt(source: Buffer): number {
  let at = 0;
  const skipBreaks = (): void => {
    while (isBreak(source[at])) at++;
  };
  for (;;) {
    for (let inGroup = 0; inGroup < 4; inGroup++) {
      skipBreaks();
      if (at === source.length) return inGroup === 0 ? -1 : at - inGroup;
      const byte = source[at++]!;
      if (isDigit(byte)) continue;
      if (byte !== 61 || inGroup < 2) return at - 1;
      if (inGroup === 2) {
        skipBreaks();
        if (at === source.length) return source.length;
        if (source[at] !== 61) return at - 1;
        at++;
      }
      skipBreaks();
      return at < source.length ? at : -1;
    }
  }
}
