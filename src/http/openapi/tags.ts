/** Description of each group of endpoints; a group is the first word of its operations' IDs. */
const TAGS: Record<string, string> = {
  health: 'Service health and component status.',
  changelog: 'API releases and their changes.',
  auth: 'Registration and sign-in. Signing in returns a user token, sent with an API key for actions that require a person.',
  twoFactor: 'Two-factor authentication with an authenticator app and recovery codes.',
  me: 'The account that owns the API key: profile, avatar and embed allowlist.',
  team: 'Team members, their roles, and invitations.',
  apiKeys: 'API keys. A key can grant at most its own access.',
  channel: 'Public channels. Authentication is optional.',
  channels: "Your channel's public profile.",
  users: 'Public profiles of other accounts, and follows.',
  subscribers: "The account's mailing list.",
  integrationDomains: 'Verified domains that can host checkout pages.',
  streams:
    'Live streams. An encoder provides the signal (`hasSignal`); the creator starts and stops the broadcast (`isLive`).',
  chat: 'Stream chat: messages, history and moderation.',
  restreams: 'Restreaming to YouTube, Twitch and any RTMP or SRT server, with per-target status.',
  bridges: 'Media bridges, e.g. from an external live source to a stream.',
  rooms: 'Video rooms: settings, join tokens, participants and moderation.',
  videos: 'Uploaded, imported and recorded videos: processing, publishing and playback.',
  playlists: 'Ordered lists of videos.',
  tiers: 'Membership tiers with a monthly or yearly price and benefits.',
  subscriptions: 'Memberships: renewals, changes and cancellation.',
  checkout: 'Hosted checkout pages for tiers, videos and bookings.',
  products: 'Bookable products: one-to-one, classes and cohort courses.',
  slots: 'Available booking times of a product.',
  cohorts: 'Cohort courses: sessions and scheduled videos.',
  calendars: 'Calendar feed of your bookings, and external calendars that block time.',
  availability: 'Weekly hours and time off.',
  bookings: 'Bookings: cancellation, rescheduling and outcomes.',
  waitlist: 'Waitlist entries and offers.',
  discountCodes: 'Discount codes for checkout.',
  uploads: 'Resumable upload sessions (tus 1.0) and single PUT uploads.',
  imports: 'Videos imported from a URL.',
  webhooks: 'Webhook endpoints and delivery logs.',
  events: 'Workspace events, as a list and as an event stream.',
  requests: 'Log of API requests and responses.',
  purchases: 'Sales, purchases and refunds.',
  analytics: 'Audience and revenue analytics.',
  monetization: 'Revenue, payments and the payout account.',
  payouts: "Payouts to the creator's bank account.",
  summary: 'Workspace counts.',
  usage: 'Metered usage by hour, day or month.',
  quota: 'Plan limits and current usage.',
  mails: 'Development mailbox for platforms without SMTP.',
  support: 'Support tickets with the platform operator.',
  notifications: 'Account notifications, in-app and by email.',
};

/** The tags of the document, in the order above. */
export function tagsOf(groups: ReadonlySet<string>): { name: string; description: string }[] {
  return Object.entries(TAGS)
    .filter(([name]) => groups.has(name))
    .map(([name, description]) => ({ name, description }));
}
