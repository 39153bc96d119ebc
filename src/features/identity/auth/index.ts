/**
 * Sign-in: accounts by registration, user tokens, sessions, the second factor, and emailed links.
 *
 * Terminology: a *user token* is the JWT of a sign-in (`X-User-Token`); a *challenge* is a sign-in that waits
 * for its second factor; a *session* is a dashboard sign-in, identified by a cookie; a *link* is the URL of a
 * page with a one-time token.
 */
export type { Auth } from './auth.ts';
export type { credentialCaps } from './routes.ts';
