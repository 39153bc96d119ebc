/**
 * User names that would speak for the platform: its offices, its addresses and the words of its pages
 * (docs/concepts/me.md#usernames). The operator's command line may give them.
 */
const RESERVED =
  `abuse account accounts admin administrator administrators anonymous api app assets auth billing booking bookings
  cdn changelog channel channels chat checkout contact copyright dashboard developer developers dmca docs embed
  everyone explore faq feed feedback ftp guest health healthz help helpdesk hostmaster imap imports invitation
  invitations legal livestream login logout mail mailer mailer-daemon marquee me media member members metrics
  moderation moderator moderators monetization mx no-reply nobody noreply notifications null official operator
  operators payment payments payout payouts player playlist playlists pop3 postmaster press pricing privacy profile
  purchases quota readyz refund refunds register report reports restreams room rooms root rtmp rtmps sales search
  security settings sign-in sign-out sign-up signin signup smtp srt ssl sso staff static status stream streams
  subscribe subscriptions superuser support sysadmin system team terms tls trending trust undefined unsubscribe
  upload uploads user users verification verified verify video videos watch webhook webhooks webmaster well-known
  whep whip www`
    .split(/\s+/)
    .map(skeletonOf);

const reserved: ReadonlySet<string> = new Set(RESERVED);

/**
 * Returns a form that is equal for names that a reader may confuse. Names consist of ASCII letters, so of
 * Unicode's confusables (https://www.unicode.org/reports/tr39/) only these apply.
 */
function skeletonOf(name: string): string {
  return name
    .replaceAll(/[_-]/g, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1i]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** @param username lower-cased. */
export function isReserved(username: string): boolean {
  return reserved.has(skeletonOf(username));
}
