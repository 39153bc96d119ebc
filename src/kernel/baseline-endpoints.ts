import type { Release, ReleaseEntry } from './release.ts';

/** Endpoints by their paths: `GET POST /streams, DELETE /streams/{id}`. */
function endpoints(text: string): string[] {
  return text.split(',').flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const path = words.at(-1);
    return words.slice(0, -1).map((method) => `${method} ${path}`);
  });
}

function added(title: string, description: string, text: string): ReleaseEntry {
  return { type: 'ADDED', title, description, endpoints: endpoints(text) };
}

/** The API as first released, with every endpoint. */
export const BASELINE_ENDPOINTS: Release = {
  version: '1.0.0',
  date: '2026-11-01',
  entries: [
    {
      type: 'SECURITY',
      title: 'Financial endpoints require a financial scope',
      description:
        'Reading financial data with a READ_ONLY key, and changing the prices of tiers with a STANDARD key, returns 403 FINANCIAL_SCOPE_REQUIRED: FULL_ACCESS or a finance permission is required.',
      endpoints: endpoints(
        `GET /monetization/revenue, GET /monetization/payments, GET /me/payouts, GET /analytics/summary,
        GET /analytics/stats, GET /purchases, GET /videos/{id}/purchases, GET /me/subscriptions, POST /tiers,
        PATCH DELETE /tiers/{id}`,
      ),
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
      'API keys',
      'Keys with scopes, permissions, restrictions and an expiry, for a live and a test workspace.',
      `GET POST DELETE /me/api-keys, GET DELETE /me/api-keys/{id}, POST /me/api-keys/{id}/rotate`,
    ),
    added(
      'Accounts and sign-in',
      'Registration, two-factor sign-in, user tokens, and dashboard sessions.',
      `POST /auth/register, POST /auth/login, POST /auth/login/2fa, POST /auth/logout,
      GET /auth/registration, GET POST DELETE /auth/session, POST /auth/session/2fa,
      POST /auth/session/register, POST /auth/session/password, POST /auth/session/verification,
      GET /auth/sessions, DELETE /auth/sessions/{id}, GET POST DELETE /me/two-factor,
      POST /me/two-factor/confirm`,
    ),
    added(
      'Profile',
      'The account that owns the key: profile, avatar, and sites allowed to embed its player.',
      `GET PATCH DELETE /me, PATCH /me/email, POST /me/password, GET POST /me/export, GET PUT DELETE /me/avatar, GET PUT /me/embed-allowlist`,
    ),
    added(
      'Teams',
      'Members with roles, and email invitations.',
      `GET /team, PATCH DELETE /team/members/{id}, GET POST /team/invitations,
      DELETE /team/invitations/{id}, POST /team/invitations/preview, POST /team/invitations/accept,
      POST /team/leave`,
    ),
    added(
      'Integration domains',
      'Verified domains of the account, from which buyers can be sent to checkout.',
      `GET POST /me/integration-domains, GET DELETE /me/integration-domains/{id},
      POST /me/integration-domains/{id}/verify`,
    ),
    added(
      'Channels and followers',
      'Public channels, and following them.',
      `GET /users/{username}, POST DELETE /users/{username}/subscribe, GET /channel/{username},
      GET /channel/{username}/videos, GET /channel/{username}/streams, GET /channel/{username}/playlists,
      GET /channels, GET PATCH /channels/{id}, PUT DELETE /channels/{id}/banner`,
    ),
    added(
      'Audience list',
      'Email addresses that have agreed to receive emails.',
      `GET POST /subscribers, DELETE /subscribers/{id}`,
    ),
    added(
      'Webhooks',
      'Signed deliveries with retries, delivery log, tests, simulations and replays.',
      `GET POST /me/webhooks, GET /me/webhooks/events, GET PATCH DELETE /me/webhooks/{id},
      POST /me/webhooks/{id}/rotate-secret, GET /me/webhooks/{id}/deliveries,
      GET /me/webhooks/{id}/pending, POST /me/webhooks/{id}/test, POST /me/webhooks/{id}/simulate,
      POST /me/webhooks/{id}/deliveries/{deliveryId}/replay, POST /me/webhooks/{id}/recover`,
    ),
    added(
      'Event log',
      'Events of the last 30 days, as a list and an event stream.',
      `GET /me/events, GET /me/events/tail, GET /me/events/stream, POST /me/events/trigger, GET /me/events/{eventId}`,
    ),
    added(
      'Live streams',
      'Streams with an encoder signal, broadcasts that the creator starts and stops, and event streams.',
      `GET POST /streams, GET PATCH DELETE /streams/{id}, POST /streams/{id}/start, POST /streams/{id}/stop,
      POST /streams/{id}/end, POST /streams/{id}/rotate-key, POST /streams/{id}/simulate-signal,
      POST /streams/{id}/clips,
      GET /streams/{id}/health, GET /streams/{id}/sessions, GET /streams/{id}/status,
      GET /streams/{id}/status/tail, GET /streams/{id}/viewers, GET /streams/{id}/viewers/tail,
      GET /streams/{id}/tail, POST /streams/{id}/playback-tokens`,
    ),
    added(
      'Chat',
      'Messages, history and moderation, with an event stream.',
      `GET POST DELETE /streams/{id}/chat, DELETE /streams/{id}/chat/{messageId},
      GET /streams/{id}/chat/tail, GET POST /streams/{id}/chat/bans,
      DELETE /streams/{id}/chat/bans/{banId}`,
    ),
    added(
      'Restreams',
      'Broadcasts to other platforms.',
      `GET POST /restreams, GET /restreams/platforms, GET PATCH DELETE /restreams/{id},
      POST /restreams/{id}/start, POST /restreams/{id}/stop, POST /restreams/{id}/targets,
      PATCH DELETE /restreams/{id}/targets/{targetId}, POST /restreams/{id}/targets/{targetId}/retry`,
    ),
    added('Bridges', 'Media carried between what is yours.', `GET POST /bridges, GET DELETE /bridges/{id}`),
    added(
      'Rooms',
      'Video rooms with recordings.',
      `GET POST /rooms, GET PATCH DELETE /rooms/{id}, POST /rooms/{id}/tokens, POST /rooms/{id}/end,
      POST /rooms/{id}/recording/start, POST /rooms/{id}/recording/stop, GET /rooms/{id}/participants,
      DELETE /rooms/{id}/participants/{identity}, DELETE /rooms/{id}/bans/{identity},
      POST /rooms/{id}/participants/{identity}/mute, POST /rooms/{id}/participants/{identity}/admit,
      POST /rooms/{id}/participants/{identity}/deny`,
    ),
    added(
      'Videos',
      'Uploading, importing, recording, processing, publishing and playback of videos.',
      `GET POST /videos, GET PATCH DELETE /videos/{id}, POST /videos/{id}/publish,
      POST /videos/{id}/unpublish, POST /videos/{id}/retry, GET POST /videos/{id}/captions,
      DELETE /videos/{id}/captions/{language}, PUT DELETE /videos/{id}/thumbnail, GET /videos/{id}/related,
      POST /videos/{id}/views, POST /videos/{id}/playback-tokens, GET /videos/{id}/download, POST /videos/{id}/clips,
      POST DELETE /videos/{id}/replacement,
      GET POST /videos/{id}/captions/auto,
      GET POST /upload, GET DELETE /upload/{id}, POST /upload/{id}/complete, GET POST /imports, GET /imports/{id},
      POST /imports/{id}/cancel, POST /imports/{id}/retry`,
    ),
    added(
      'Playlists',
      'Ordered lists of videos.',
      `GET POST /playlists, GET PATCH DELETE /playlists/{id}, PUT /playlists/{id}/items/order,
      GET POST /playlists/{id}/items, PATCH DELETE /playlists/{id}/items/{itemId}`,
    ),
    added(
      'Tiers, checkout and members',
      'Subscription tiers, checkout pages, and member access.',
      `GET POST /tiers, GET PATCH DELETE /tiers/{id}, POST /checkout/subscription, POST /checkout/video,
      POST /checkout/booking, GET /checkout/{id}, POST /checkout/{id}/simulate, GET /me/subscriptions,
      GET /me/subscriptions/{id}, POST /me/subscriptions/{id}/cancel, POST /me/subscriptions/{id}/resume,
      POST /me/subscriptions/{id}/switch, POST /me/subscriptions/{id}/simulate,
      GET POST /booking/discount-codes, PATCH DELETE /booking/discount-codes/{id}`,
    ),
    added(
      'Sales, revenue and payouts',
      'Payments, refunds and payouts.',
      `GET /purchases, GET /videos/{id}/purchases, GET /me/purchases, POST /purchases/{id}/refund,
      GET /monetization/payments, GET /monetization/connect-status, POST /monetization/connect-onboard,
      GET /monetization/connect-dashboard, GET /monetization/revenue, GET /me/payouts,
      POST /monetization/payouts`,
    ),
    added(
      'Booking',
      'Bookable time: one-to-one, live classes and cohorts.',
      `GET POST /booking/products, GET PATCH DELETE /booking/products/{id},
      POST /booking/products/{id}/publish, POST /booking/products/{id}/unpublish,
      GET PUT /booking/availability, GET /booking/products/{id}/slots,
      GET POST /booking/products/{productId}/cohorts, GET PATCH DELETE /booking/cohorts/{cohortId},
      POST /booking/cohorts/{cohortId}/videos, DELETE /booking/cohorts/{cohortId}/videos/{cvId},
      GET /booking/bookings, GET /booking/bookings/{id}, POST /booking/bookings/{id}/cancel,
      POST /booking/bookings/{id}/reschedule, POST /booking/bookings/{id}/no-show,
      POST /booking/bookings/{id}/simulate, POST /booking/products/{id}/waitlist, GET /booking/waitlist,
      GET DELETE /booking/waitlist/{id}, GET DELETE /booking/feed, POST /booking/feed/rotate,
      GET POST /booking/calendars, GET DELETE /booking/calendars/{id}`,
    ),
    added(
      'Analytics',
      'Views, audience and revenue.',
      `GET /account/analytics, GET /analytics/account, GET /analytics/videos, GET /analytics/streams,
      GET /analytics/geography, GET /analytics/videos/{id}, GET /analytics/streams/{id},
      GET /analytics/stats, GET /analytics/summary`,
    ),
    added(
      'Plans and usage',
      'Plan limits and usage.',
      `GET /quota, GET /quota/{key}, GET /usage, GET /usage/requests, GET /summary, GET /me/requests`,
    ),
    added(
      'Notifications',
      'Account notifications, in the API and by email.',
      `GET /notifications, GET /notifications/unread-count, POST /notifications/read-all,
      GET PUT /notifications/preferences, GET DELETE /notifications/{id}, POST /notifications/{id}/read`,
    ),
    added(
      'Support',
      'Tickets to the platform operator, and replies.',
      `GET POST /support/tickets, GET /support/tickets/{id}, POST /support/tickets/{id}/messages,
      POST /support/tickets/{id}/close, GET /admin/tickets, GET PATCH /admin/tickets/{id},
      POST /admin/tickets/{id}/messages, GET /admin/mails, GET /admin/mails/{id}`,
    ),
    added(
      'Health and changelog',
      'Service status and release notes.',
      `GET /changelog, GET /changelog/latest, GET /changelog/{version}, GET /health, GET /health/ready`,
    ),
  ],
};
