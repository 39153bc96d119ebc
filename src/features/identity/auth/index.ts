/**
 * Sign-in: accounts by registration, user tokens, sessions, the second factor, and emailed links.
 *
 * Terminology: a *user token* is the JWT of a sign-in (`X-User-Token`); a *challenge* is a sign-in that waits
 * for its second factor; a *session* is a dashboard sign-in, identified by a cookie; a *link* is the URL of a
 * page with a one-time token.
 */
export { type Auth, createAuth } from './auth.ts';
export { credentialRoutes } from './credentials.routes.ts';
export { authPages } from './pages.ts';
export { authRoutes, credentialCaps, twoFactorRoutes } from './routes.ts';
export { sessionRoutes } from './sessions.routes.ts';
