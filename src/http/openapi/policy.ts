import { isContentRead, type Permission } from '../../kernel/access.ts';
import type { Gate, Limit, Route } from '../route.ts';
import type { Json } from './json.ts';

/** Security schemes for callers. */
export const SECURITY_SCHEMES: Record<string, Json> = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'pk_…',
    description:
      'API key as `Authorization: Bearer pk_…`. A key belongs to one account and one mode, live or test; its scope, permissions and allowlists define its access. Store it on a server: never expose it in a web page or app.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'API key in a separate header, for clients that cannot set `Authorization`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-session',
    description:
      'Dashboard session cookie (`POST /auth/session`), only for pages of the platform; over plain HTTP its name is `session`. It has the access of a FULL_ACCESS key of its account or, if `X-Account-Id` selects a team the person belongs to, of their role there. Requests other than GET require a matching `Origin` and `X-CSRF-Token` (`csrfToken` of `GET /auth/session`). `X-Workspace-Mode: live|test` selects the workspace; the default is live. If an API key is also sent, it takes precedence.',
  },
  userToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-User-Token',
    description:
      'Access token of a sign-in (`POST /auth/login`), always sent with an API key of the same owner; it proves that the user is present. Endpoints that act for the user require it; other owner endpoints accept it instead of a FULL_ACCESS key.',
  },
};

const KEY = [{ bearer: [] }, { apiKey: [] }];
const KEY_AND_USER = [
  { bearer: [], userToken: [] },
  { apiKey: [], userToken: [] },
];
const SESSION = [{ session: [] }];
/** Default security of endpoints. */
export const DEFAULT_SECURITY: Json[] = [...KEY, ...KEY_AND_USER, ...SESSION];

/** The `security` of an operation where it is not the default. */
export function securityOf({ auth, gate }: Pick<Route, 'auth' | 'gate'>): { security?: Json[] } {
  if (auth === 'none') return { security: [] };
  if (auth === 'public' || auth === 'optional') return { security: [{}, ...KEY, ...SESSION] };
  if (auth === 'session' || gate === 'session-owner' || gate === 'admin') return { security: SESSION };
  return gate === 'user' ? { security: [...KEY_AND_USER, ...SESSION] } : {};
}

const GATES: Record<Gate, string> = {
  'finance-read': 'Requires a FULL_ACCESS key or the permission `finance:read`.',
  'finance-write': 'Requires a FULL_ACCESS key or the permission `finance:write`.',
  owner: "Requires a FULL_ACCESS key, the owner's user token, or a dashboard session.",
  user: "Requires the owner's user token or a dashboard session.",
  'session-owner': 'Requires a dashboard session; API keys are not accepted.',
  admin: "Requires an administrator's dashboard session; API keys are not accepted.",
};

const WITHOUT_KEY: Record<Exclude<Route['auth'], 'key'>, string> = {
  none: 'No authentication required.',
  public: 'Authentication is optional.',
  optional: 'No API key required; if one is sent, it must be valid.',
  session: 'Requires a dashboard session.',
};

/** Describes the requirements of an endpoint's policy. */
export function describePolicy(route: Route): string {
  const { auth, gate, permission, recentPassword, ownOrigin, limits = [], idempotent, originLock } = route;
  const access =
    auth !== 'key'
      ? [WITHOUT_KEY[auth]]
      : [
          ...(gate === null ? [] : [GATES[gate]]),
          ...(permission === null ? [] : [permissionText(permission)]),
          ...(gate === null && permission === null ? ['Works with any API key.'] : []),
        ];
  return [
    ...access,
    ...(ownOrigin === true ? ["Accepts requests only from the platform's own pages."] : []),
    ...(recentPassword === true
      ? ['The session must have confirmed its password within the last ten minutes.']
      : []),
    ...limits.map(limitText),
    ...(idempotent ? ['Supports `Idempotency-Key`.'] : []),
    ...(originLock ? ['Accepts requests only from verified integration domains.'] : []),
  ].join(' ');
}

function permissionText(permission: Permission): string {
  return isContentRead(permission)
    ? `Requires the permission \`${permission}\` if the key's list includes a \`:read\` permission for content.`
    : `Requires the permission \`${permission}\`.`;
}

function limitText({ per, param, max, windowSec }: Limit): string {
  const who = `${per === 'ip' ? 'IP address' : 'key'}${param === undefined ? '' : ` and \`${param}\``}`;
  return `Rate limit: ${max} per ${windowText(windowSec)} per ${who}.`;
}

function windowText(seconds: number | 'day'): string {
  if (seconds === 'day') return 'day (UTC)';
  if (seconds % 3600 === 0) return seconds === 3600 ? 'hour' : `${seconds / 3600} hours`;
  if (seconds % 60 === 0) return seconds === 60 ? 'minute' : `${seconds / 60} minutes`;
  return `${seconds} seconds`;
}
