import type { NewEmail } from '../../integration/mail/index.ts';
import { CONFIRM_DAYS } from './links.ts';

/** Returns the email that asks whether a creator may write to the address. */
export function confirmationEmail({
  to,
  creator,
  confirmUrl,
  leaveUrl,
}: {
  to: string;
  creator: string;
  confirmUrl: string;
  leaveUrl: string;
}): NewEmail {
  return {
    kind: 'subscriber-confirm',
    to,
    subject: `Confirm your subscription to ${creator}`,
    text: `This email address was added to the mailing list of ${creator}.

To confirm, open this link within ${CONFIRM_DAYS} days:

${confirmUrl}

If this wasn't you, ignore this email: unconfirmed addresses receive no emails. To unsubscribe from the list:

${leaveUrl}
`,
    unsubscribeUrl: leaveUrl,
  };
}
