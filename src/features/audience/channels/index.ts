/** Channels: the public profile and content of an account (docs/concepts/channels.md). */
export { bannerPages } from './banner.pages.ts';
export { channelPages } from './channel.pages.ts';
export { createContent } from './content.ts';
export { findChannel } from './repository.ts';
export { channelRoutes } from './routes.ts';
export { displayNameOf } from './schemas.ts';
export { createChannels } from './service.ts';
