/** What each group of endpoints is about; a group is the first word of its operations' ids. */
const TAGS: Record<string, string> = {
  health: 'Is the service up, and are its parts?',
  changelog: 'What each release of the interface has changed.',
  auth: 'Accounts and sign-in. A sign-in gives a user token, which stands beside the API key where a person has to act.',
  twoFactor: 'The second factor of the account: an authenticator app and recovery codes.',
  me: 'The account that owns the key: its profile, its picture, and which sites may show its player.',
  team: 'Who may act for the account beside its owner, as what, and who is invited.',
  apiKeys: 'Keys of the account. A key can mint only what it holds itself.',
  channel: 'Channels as everybody sees them, with or without a key.',
  channels: 'Your channel: what it says of itself.',
  users: 'Other accounts as everybody sees them, and following them.',
  subscribers: 'The list of people whom you may write to.',
  integrationDomains: 'Domains that the account has proven to own; checkout pages run on those alone.',
  streams:
    'Live streams. An encoder gives a stream its signal (`hasSignal`); the creator starts and stops the broadcast (`isLive`).',
  chat: 'The chat of a stream: posts, history, moderation.',
  restreams:
    'Broadcasts that are sent on to other platforms, each destination by itself: YouTube, Twitch, any RTMP or SRT server.',
  bridges: 'Media carried between what is yours: a live source outside becomes the signal of a stream.',
  rooms:
    'Rooms in which people see and hear each other: settings, tokens for those who come, who is there, moderation.',
  videos: 'Videos: uploaded, imported or recorded, processed into renditions, published and watched.',
  playlists: 'Videos in an order.',
  tiers: 'What people subscribe to: a name, a price for each month or year, and what members get.',
  subscriptions: 'What members have of tiers: renewed, changed and ended.',
  checkout: 'Pages on which buyers pay for a tier or a video.',
  products: 'Time that you sell: one to one, in classes, in cohorts.',
  slots: 'Times at which a product can be booked.',
  cohorts: 'Groups that take a course together: sessions, and videos that open one after another.',
  calendars: 'Your bookings in calendars elsewhere, and what is in those.',
  availability: 'When you have time to be booked.',
  bookings: 'Who has booked a time or a seat: canceled, moved, and what became of it.',
  waitlist: 'Who waits for a place that is taken, and to whom it is offered.',
  discountCodes: 'Codes with which buyers pay less.',
  uploads: 'Upload sessions: an address that takes the bytes of a file, by tus 1.0 or one PUT.',
  imports: 'Files that the platform fetches itself and makes videos of.',
  webhooks: 'Addresses that receive signed events, and the log of what was delivered.',
  events: 'The events of the workspace, as a list and as a stream.',
  requests: 'What was requested with the keys of the workspace, and how it was answered.',
  purchases: 'What buyers have paid for, and what was given back.',
  analytics: 'What was watched, by whom as far as numbers say, and what it brought.',
  monetization: 'Revenue and payments, and the account that money is paid out to.',
  payouts: 'What has left to the bank of the creator.',
  summary: 'What there is, in numbers.',
  usage: 'What was used of the platform, by the hour, day or month.',
  quota: 'What the plan includes, and what of it is used.',
  mails: 'The mails that a platform without a mail server keeps for its operator.',
  support: 'Tickets to the operator of the platform, and the answers.',
  notifications: 'What the account is told, in the API and by mail.',
};

/** The tags of the document, in the order above. */
export function tagsOf(groups: ReadonlySet<string>): { name: string; description: string }[] {
  return Object.entries(TAGS)
    .filter(([name]) => groups.has(name))
    .map(([name, description]) => ({ name, description }));
}
