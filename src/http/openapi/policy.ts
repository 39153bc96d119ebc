import { isContentRead, type Permission } from '../../kernel/access.ts';
import type { Gate, Limit, Route } from '../route.ts';
import type { Json } from './json.ts';

/** Schemes by which a caller says who it is. */
export const SECURITY_SCHEMES: Record<string, Json> = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'pk_…',
    description:
      'The API key as `Authorization: Bearer pk_…`. A key belongs to one account and one mode, live or test; its scope, permissions and allow-lists say what it may do. Keep it on a server: a page or an app gives it away.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The same API key in a header of its own, for clients that cannot set `Authorization`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-session',
    description:
      'The cookie of a sign-in to the dashboard (`POST /auth/session`), for the pages of the platform alone; over plain http it is called `session`. It acts as a FULL_ACCESS key of its account, or, where `X-Account-Id` names one whose team the person is in, within their role there. Whatever is no GET needs the own `Origin` and `X-CSRF-Token` (`csrfToken` of `GET /auth/session`). `X-Workspace-Mode: live|test` chooses the workspace, live by default. A key that is sent as well wins.',
  },
  userToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-User-Token',
    description:
      'The access token of a sign-in (`POST /auth/login`), always beside an API key and of its owner: the person is there, not only a program. Endpoints that are acts of the user need it; others of the owner take it instead of a FULL_ACCESS key.',
  },
};

const KEY = [{ bearer: [] }, { apiKey: [] }];
const KEY_AND_USER = [
  { bearer: [], userToken: [] },
  { apiKey: [], userToken: [] },
];
const SESSION = [{ session: [] }];
/** The security of endpoints that say nothing else. */
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
  optional: 'Works without a key; one that is sent must be valid.',
  session: 'Requires a dashboard session.',
};

/** What the policy of an endpoint asks for, in words. */
export function policyText(route: Route): string {
  const { auth, gate, permission, freshPassword, ownOrigin, limits = [], idempotent, originLock } = route;
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
    ...(freshPassword === true
      ? ['The session must have confirmed its password within the last ten minutes.']
      : []),
    ...limits.map(limitText),
    ...(idempotent ? ['Supports `Idempotency-Key`.'] : []),
    ...(originLock ? ['Accepts requests only from verified integration domains.'] : []),
  ].join(' ');
}

function permissionText(permission: Permission): string {
  return isContentRead(permission)
    ? `Needs the permission \`${permission}\` where the key's list names a read of own content.`
    : `Requires the permission \`${permission}\`.`;
}

function limitText({ per, param, max, windowSec }: Limit): string {
  const who = `${per === 'ip' ? 'address' : 'key'}${param === undefined ? '' : ` and \`${param}\``}`;
  return `Rate limit: ${max} per ${windowText(windowSec)} per ${who}.`;
}

function windowText(seconds: number | 'day'): string {
  if (seconds === 'day') return 'a day (UTC)';
  if (seconds % 3600 === 0) return seconds === 3600 ? 'an hour' : `${seconds / 3600} hours`;
  if (seconds % 60 === 0) return seconds === 60 ? 'a minute' : `${seconds / 60} minutes`;
  return `${seconds} seconds`;
}
