import type { ReleaseEntry } from '../../../kernel/release.ts';
import { FIRST_RELEASE_ENDPOINTS } from './first-release-endpoints.generated.ts';

type Tag = keyof typeof FIRST_RELEASE_ENDPOINTS;

function added(tags: readonly Tag[], title: string, description: string): ReleaseEntry {
  const endpoints = tags.flatMap((tag) => FIRST_RELEASE_ENDPOINTS[tag]);
  return { type: 'ADDED', title, description, endpoints };
}

/** Changes of version 1.0.0, with every endpoint. */
export const FIRST_RELEASE: readonly ReleaseEntry[] = [
  {
    type: 'SECURITY',
    title: 'Financial endpoints require a financial scope',
    description:
      'Reading financial data with a READ_ONLY key, and changing the prices of tiers with a STANDARD key, returns 403 FINANCIAL_SCOPE_REQUIRED: FULL_ACCESS or a finance permission is required.',
    endpoints: [
      'GET /monetization/revenue',
      'GET /monetization/payments',
      'GET /me/payouts',
      'GET /analytics/summary',
      'GET /analytics/stats',
      'GET /purchases',
      'GET /videos/{id}/purchases',
      'GET /me/subscriptions',
      'POST /tiers',
      'PATCH /tiers/{id}',
      'DELETE /tiers/{id}',
    ],
    breaking: true,
  },
  {
    type: 'SECURITY',
    title: 'Keys in the query string are ignored',
    description:
      'URLs are stored in logs and histories. Send the key as `Authorization: Bearer` or `X-API-Key`; a request with a key only in its query returns 401 UNAUTHORIZED.',
    endpoints: [],
    breaking: true,
  },
  added(
    ['apiKeys'],
    'API keys',
    'Keys with scopes, permissions, restrictions and an expiry, for a live and a test workspace.',
  ),
  added(
    ['auth', 'twoFactor'],
    'Accounts and sign-in',
    'Registration, two-factor sign-in, user tokens, and dashboard sessions.',
  ),
  added(
    ['me'],
    'Profile',
    'The account that owns the key: profile, avatar, and sites allowed to embed its player.',
  ),
  added(['team'], 'Teams', 'Members with roles, and email invitations.'),
  added(
    ['integrationDomains'],
    'Integration domains',
    'Verified domains of the account, from which buyers can be sent to checkout.',
  ),
  added(['users', 'channel', 'channels'], 'Channels and followers', 'Public channels, and following them.'),
  added(['subscribers'], 'Audience list', 'Email addresses that have agreed to receive emails.'),
  added(
    ['webhooks'],
    'Webhooks',
    'Signed deliveries with retries, delivery log, tests, simulations and replays.',
  ),
  added(['events'], 'Event log', 'Events of the last 30 days, as a list and an event stream.'),
  added(
    ['streams'],
    'Live streams',
    'Streams with an encoder signal, broadcasts that the creator starts and stops, and event streams.',
  ),
  added(['chat'], 'Chat', 'Messages, history and moderation, with an event stream.'),
  added(['restreams'], 'Restreams', 'Broadcasts to other platforms.'),
  added(['bridges'], 'Bridges', 'Connections between external sources, streams and rooms.'),
  added(['rooms'], 'Rooms', 'Video rooms with recordings.'),
  added(
    ['videos', 'uploads', 'imports'],
    'Videos',
    'Uploading, importing, recording, processing, publishing and playback of videos.',
  ),
  added(['playlists'], 'Playlists', 'Ordered lists of videos.'),
  added(
    ['tiers', 'checkout', 'subscriptions', 'discountCodes'],
    'Tiers, checkout and members',
    'Subscription tiers, checkout pages, and member access.',
  ),
  added(
    ['purchases', 'monetization', 'payouts'],
    'Sales, revenue and payouts',
    'Payments, refunds and payouts.',
  ),
  added(
    ['products', 'availability', 'slots', 'cohorts', 'bookings', 'waitlist', 'calendars'],
    'Booking',
    'Bookable time: one-to-one, live classes and cohorts.',
  ),
  added(['analytics'], 'Analytics', 'Views, audience and revenue.'),
  added(['quota', 'usage', 'summary', 'requests'], 'Plans and usage', 'Plan limits and usage.'),
  added(['notifications'], 'Notifications', 'Account notifications, in the API and by email.'),
  added(['support', 'mails'], 'Support', 'Tickets to the platform operator, and replies.'),
  added(['changelog', 'health'], 'Health and changelog', 'Service status and release notes.'),
];
