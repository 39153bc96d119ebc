import type { HeldPort } from '../held-ports.ts';
import type { RoleProcess, SendHandle } from './role-process.ts';

/** The listening socket of the API. Its processes accept connections; the first process only holds it. */
export interface ApiSocket {
  /** Lets the process accept connections. */
  sendTo(process: RoleProcess): void;
  /** Takes the copy of a process. */
  keep(copy: SendHandle, from: RoleProcess): void;
  close(): void;
}

/**
 * Holds the socket. A held port accepts connections, so it is replaced by a copy that does not: the first
 * process that gets the socket sends it back. New connections wait in the system's queue while no process
 * accepts them (docs/decisions/processes.md#one-socket).
 */
export function createApiSocket(held: HeldPort): ApiSocket {
  let copy: SendHandle | undefined;
  return {
    sendTo: (process) =>
      process.send({ type: 'listen', isReturned: copy === undefined }, copy ?? held.handle),
    keep(returned, from) {
      if (copy !== undefined) {
        closeHandle(returned);
        return;
      }
      copy = returned;
      held.passTo((socket) => from.send({ type: 'connection' }, socket));
      held.close();
    },
    close() {
      closeHandle(copy);
      held.close();
    },
  };
}

function closeHandle(handle: SendHandle | undefined): void {
  if (handle !== undefined && handle !== null && 'close' in handle) handle.close();
}
