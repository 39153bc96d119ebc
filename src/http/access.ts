import type { Permission } from '../kernel/access.ts';
import type { Gate, RouteOptions } from './route.ts';

type Reading = Extract<Permission, `${string}:read`>;
type Writing = Extract<Permission, `${string}:write`>;

/** Open to every key; a READ_ONLY one may not write. A session of the dashboard acts as a FULL_ACCESS key does. */
export const anyKey = { auth: 'key', permission: null, gate: null } as const satisfies RouteOptions;

/** Needs a key that holds the permission. */
export function requiresRead(permission: Reading) {
  return { auth: 'key', permission, gate: null } as const satisfies RouteOptions;
}

/** Needs a key that holds the permission and may write. */
export function requiresWrite(permission: Writing) {
  return { auth: 'key', permission, gate: null } as const satisfies RouteOptions;
}

/** Returns the policy of an endpoint whose gate replaces the permission. */
export function requiresGate(gate: Gate) {
  return { auth: 'key', permission: null, gate } as const satisfies RouteOptions;
}

/** About the session of the dashboard that asks: no key is read, and the address need not be confirmed. */
export const sessionOnly = { auth: 'session', permission: null, gate: null } as const satisfies RouteOptions;

/** Works without a key; a valid one is counted, any other is ignored. */
export const attributingKey = {
  auth: 'public',
  permission: null,
  gate: null,
} as const satisfies RouteOptions;

/** Works without a key; one that is sent must be valid, and is counted. */
export const checkedIfSent = {
  auth: 'optional',
  permission: null,
  gate: null,
} as const satisfies RouteOptions;

/** No key is read. */
export const noKey = { auth: 'none', permission: null, gate: null } as const satisfies RouteOptions;
