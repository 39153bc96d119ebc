/** A failure that keeps the program from starting, in one line for the operator. */
export function describeStartupError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  const port = 'port' in error ? error.port : undefined;
  if (code === 'EADDRINUSE') return `port ${String(port)} is already in use; choose another one`;
  if (code === 'EACCES' && port !== undefined) return `this user is not allowed to open port ${String(port)}`;
  if (code === 'ENOSPC') return `the disk is full: ${firstLine(error.message)}`;
  if (code === 'ECONNREFUSED') return `the database cannot be reached: ${firstLine(error.message)}`;
  return firstLine(error.message);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
