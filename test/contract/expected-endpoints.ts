import type { Permission } from '../../src/kernel/access.ts';

/**
 * Credential that an endpoint requires: any key, none, a permission, or a specific check. `minting` takes an
 * owner credential, `revoking` that or the key to be revoked, `person` and `administrator` a session.
 */
export type RequiredAuth =
  | Permission
  | 'any key'
  | 'nothing'
  | 'nothing, but checks a key'
  | 'finance to read'
  | 'finance to write'
  | 'minting'
  | 'revoking'
  | 'person'
  | 'administrator';

/** One endpoint that partners were promised, written out a second time: the program is compared with it. */
export interface ExpectedEndpoint {
  /** `GET /streams`. */
  endpoint: string;
  asks: RequiredAuth;
  /** 201 if something is created. */
  status: 200 | 201;
  /** Not a GET, but it changes none of the key's own data. */
  isOpenToReaders: boolean;
  /** A setting of the whole account: not for keys of the test mode. */
  isLiveOnly: boolean;
  isIdempotent: boolean;
  isOriginLocked: boolean;
  /** Limits as the document names them. */
  caps: readonly string[];
}

/** One endpoint per line: method and path, its requirement, and after `;` its special properties. */
const TABLE: Record<string, RequiredAuth> = {
  'POST /auth/login; readers': 'any key',
  'POST /auth/login/2fa; readers': 'any key',
  'POST /auth/register; 201, readers': 'any key',

  'GET /account/analytics': 'any key',
  'GET /analytics/account': 'any key',
  'GET /analytics/geography': 'any key',
  'GET /analytics/streams': 'any key',
  'GET /analytics/streams/{id}': 'any key',
  'GET /analytics/videos': 'any key',
  'GET /analytics/videos/{id}': 'any key',
  'GET /analytics/stats': 'finance to read',
  'GET /analytics/summary': 'finance to read',

  'GET /booking/availability': 'booking:read',
  'PUT /booking/availability': 'booking:write',
  'GET /booking/bookings': 'booking:read',
  'GET /booking/bookings/{id}': 'booking:read',
  'GET /booking/products': 'booking:read',
  'POST /booking/products; 201': 'booking:write',
  'GET /booking/products/{id}': 'booking:read',
  'PATCH /booking/products/{id}': 'booking:write',
  'DELETE /booking/products/{id}': 'booking:write',
  'POST /booking/products/{id}/publish': 'booking:write',
  'POST /booking/products/{id}/unpublish': 'booking:write',
  'GET /booking/products/{productId}/cohorts': 'booking:read',
  'POST /booking/products/{productId}/cohorts; 201': 'booking:write',
  'GET /booking/cohorts/{cohortId}': 'booking:read',
  'PATCH /booking/cohorts/{cohortId}': 'booking:write',
  'DELETE /booking/cohorts/{cohortId}': 'booking:write',
  'POST /booking/cohorts/{cohortId}/videos; 201': 'booking:write',
  'DELETE /booking/cohorts/{cohortId}/videos/{cvId}': 'booking:write',
  'GET /booking/discount-codes': 'booking:read',
  'POST /booking/discount-codes; 201': 'booking:write',
  'PATCH /booking/discount-codes/{id}': 'booking:write',
  'DELETE /booking/discount-codes/{id}': 'booking:write',
  'GET /booking/waitlist': 'booking:read',

  'GET /bridges': 'streams:read',
  'POST /bridges; 201': 'streams:write',

  'GET /me/webhooks': 'webhooks:read',
  'POST /me/webhooks; 201': 'webhooks:write',
  'GET /me/webhooks/{id}': 'webhooks:read',
  'PATCH /me/webhooks/{id}': 'webhooks:write',
  'DELETE /me/webhooks/{id}': 'webhooks:write',
  'POST /me/webhooks/{id}/rotate-secret': 'webhooks:write',
  'POST /me/webhooks/{id}/test': 'webhooks:write',
  'POST /me/webhooks/{id}/simulate': 'webhooks:write',
  'POST /me/webhooks/{id}/deliveries/{deliveryId}/replay': 'webhooks:write',
  'GET /me/webhooks/{id}/deliveries': 'webhooks:read',
  'GET /me/webhooks/events': 'any key',

  'GET /videos': 'videos:read',
  'GET /videos/{id}/related': 'nothing',
  'POST /videos/{id}/views; readers': 'nothing',
  'GET /videos/{id}/purchases': 'finance to read',
  'POST /streams; 201, idempotent': 'streams:write',
  'POST /streams/{id}/start': 'streams:write',
  'POST /streams/{id}/stop': 'streams:write',
  'POST /streams/{id}/end': 'streams:write',
  'POST /streams/{id}/chat; 201': 'chat:write',
  'GET /streams/{id}/chat': 'chat:read',
  'GET /streams/{id}/status': 'streams:read',
  'GET /streams/{id}/viewers': 'streams:read',
  'GET /streams/{id}/chat/tail': 'chat:read',
  'GET /streams/{id}/status/tail': 'streams:read',
  'GET /streams/{id}/viewers/tail': 'streams:read',
  'POST /restreams; 201, idempotent': 'restreams:write',
  'POST /rooms; 201, idempotent': 'rooms:write',
  'POST /checkout/subscription; 201, idempotent, origin': 'any key',
  'POST /checkout/video; 201, origin': 'any key',
  'POST /checkout/booking; 201, origin': 'any key',
  'GET /me': 'any key',
  'GET /me/avatar': 'any key',
  'GET /me/embed-allowlist': 'any key',
  'GET /me/api-keys': 'any key',
  'POST /me/api-keys; 201': 'minting',
  'DELETE /me/api-keys': 'revoking',
  'DELETE /me/api-keys/{id}': 'minting',
  'GET /me/payouts': 'finance to read',
  'GET /me/subscriptions': 'finance to read',
  'GET /me/purchases': 'any key',
  'GET /tiers': 'any key',
  'GET /tiers/{id}': 'any key',
  'POST /tiers; 201': 'finance to write',
  'PATCH /tiers/{id}': 'finance to write',
  'DELETE /tiers/{id}': 'finance to write',
  'GET /purchases': 'finance to read',
  'GET /monetization/revenue': 'finance to read',
  'GET /monetization/payments': 'finance to read',
  'GET /monetization/connect-status': 'any key',
  'POST /monetization/connect-onboard': 'person',
  'GET /monetization/connect-dashboard': 'person',
  'POST /monetization/payouts; 201': 'administrator',
  'GET /channel/{username}': 'nothing',
  'POST /subscribers; 201': 'subscribers:write',
  'POST /users/{username}/subscribe; 201': 'any key',

  'GET /channels': 'any key',
  'GET /health': 'nothing, but checks a key',
  'GET /health/ready': 'nothing, but checks a key',
  'GET /imports': 'imports:read',
  'POST /imports; 201': 'imports:write',
  'GET /notifications': 'any key',
  'GET /playlists': 'playlists:read',
  'POST /playlists; 201': 'playlists:write',
  'GET /quota': 'any key',
  'GET /summary': 'any key',
  'GET /support/tickets': 'support:read',
  'POST /support/tickets; 201': 'support:write',
  'GET /team': 'team:read',
  'GET /upload': 'upload:read',
  'POST /upload; 201': 'upload:write',
  'GET /usage': 'any key',
  'GET /users/{username}': 'any key',
  'PATCH /me': 'profile:write',
  'PUT /me/avatar': 'profile:write',
  'DELETE /me/avatar': 'profile:write',
  'PUT /me/embed-allowlist; live': 'profile:write',
  'PUT /notifications/preferences; live': 'profile:write',
  'POST /notifications/read-all': 'profile:write',
  'GET /me/events': 'events:read',
  'GET /me/events/{eventId}': 'events:read',
  'GET /me/integration-domains': 'domains:read',
  'POST /me/integration-domains; 201': 'domains:write',
  'GET /subscribers': 'subscribers:read',
  'GET /changelog': 'nothing, but checks a key',
  'GET /changelog/latest': 'nothing, but checks a key',
  'GET /changelog/{version}': 'nothing, but checks a key',
};

const PER_ADDRESS = 'Rate limit: 60 per minute per IP address.';
const LOGIN = ['Rate limit: 10 per 15 minutes per IP address.', 'Rate limit: 100 per hour per key.'];

/** docs/concepts/conventions.md#rate-limits; endpoints that are not here have none that was promised. */
const CAPS: Record<string, readonly string[]> = {
  'POST /auth/login': LOGIN,
  'POST /auth/login/2fa': LOGIN,
  'POST /auth/register': ['Rate limit: 5 per 15 minutes per IP address.', 'Rate limit: 20 per hour per key.'],
  'GET /channel/{username}': [PER_ADDRESS],
  'GET /videos/{id}/related': [PER_ADDRESS],
  'POST /videos/{id}/views': ['Rate limit: 30 per minute per IP address and `id`.'],
  'POST /streams/{id}/chat': [
    'Rate limit: 60 per minute per key and `id`.',
    'Rate limit: 1000 per day (UTC) per key and `id`.',
  ],
  'POST /subscribers': ['Rate limit: 100 per hour per key.'],
  'POST /users/{username}/subscribe': ['Rate limit: 60 per hour per key.'],
};

export const EXPECTED_ENDPOINTS: readonly ExpectedEndpoint[] = Object.entries(TABLE).map(([line, asks]) => {
  const [endpoint = '', special = ''] = line.split('; ');
  return {
    endpoint,
    asks,
    status: special.includes('201') ? 201 : 200,
    isOpenToReaders: special.includes('readers'),
    isLiveOnly: special.includes('live'),
    isIdempotent: special.includes('idempotent'),
    isOriginLocked: special.includes('origin'),
    caps: CAPS[endpoint] ?? [],
  };
});

/** Groups whose paths permanently have only these methods; new functions get new paths. */
export const CLOSED: readonly string[] = [
  '/auth/',
  '/account/',
  '/analytics/',
  '/booking/',
  '/bridges',
  '/me/webhooks',
];

/** Endpoints whose per-address limiters return `error` as a string, unlike all other limiters. */
export const STRING_BODIES: readonly string[] = [
  'POST /auth/login',
  'POST /auth/register',
  'GET /channel/{username}',
  'GET /videos/{id}/related',
];

/** Withdrawn endpoints; they always return 410. */
export const WITHDRAWN: readonly string[] = ['/search', '/trending', '/feed'];
