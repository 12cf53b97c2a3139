/**
 * Listening where one was told, or elsewhere when the port is taken: health pages and container logs move rather than keep a component from its work.
 * (The API server does not: its clients know one address.)
 */

/** The wanted port, or a free one when another process has it. */
export async function orFreePort<T>(port: number, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return start(0);
  }
}
