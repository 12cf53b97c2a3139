/** Bounds how many requests are in flight at once; those above it wait in order. */
export function createWriteLimit(most: number): <T>(request: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  return async (request) => {
    if (inFlight >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else inFlight++;
    try {
      return await request();
    } finally {
      // The place goes to the next in line, or is free.
      const next = waiting.shift();
      if (next) next();
      else inFlight--;
    }
  };
}
