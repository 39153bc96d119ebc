/**
 * Sign-in: accounts by registration, user tokens, sessions, the second factor, and links sent by mail.
 *
 * Terminology: a *user token* is the JWT of a sign-in (`X-User-Token`); a *challenge* is a sign-in that waits
 * for its second factor; a *session* is a sign-in to the dashboard, kept by a cookie; a *link* is a page's address with a token that is good once.
 */
export { type Auth, createAuth } from './auth.ts';
export { credentialRoutes } from './credentials.routes.ts';
export { authPages } from './pages.ts';
export { authRoutes, credentialCaps, twoFactorRoutes } from './routes.ts';
export { sessionRoutes } from './sessions.routes.ts';
