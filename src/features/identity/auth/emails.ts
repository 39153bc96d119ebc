/** Plain-text email. */

interface Mail {
  kind: string;
  to: string;
  subject: string;
  text: string;
}

export function verificationEmail(to: string, link: string): Mail {
  return {
    kind: 'verify-email',
    to,
    subject: 'Verify your email address',
    text: `A Marquee account was created with this email address.

To verify your email address, open this link within 24 hours:

${link}

If this wasn't you, ignore this email. Unverified addresses cannot be used.
`,
  };
}

export function passwordResetEmail(to: string, link: string): Mail {
  return {
    kind: 'reset-password',
    to,
    subject: 'Reset your password',
    text: `We received a request to reset the password of your Marquee account.

To choose a new password, open this link within one hour:

${link}

If this wasn't you, ignore this email. Your password will not change.
`,
  };
}

export function passwordChangedEmail(to: string, link: string): Mail {
  return {
    kind: 'password-changed',
    to,
    subject: 'Your password was changed',
    text: `The password of your Marquee account was changed, and other devices were signed out. API keys are not affected. If this wasn't you, reset your password immediately:

${link}
`,
  };
}

export function confirmNewAddressEmail(to: string, link: string): Mail {
  return {
    kind: 'change-email',
    to,
    subject: 'Confirm your new email address',
    text: `A Marquee account is being changed to use this email address.

To verify your email address, open this link within 24 hours:

${link}

If this wasn't you, ignore this email. Nothing will change.
`,
  };
}

/** @param state of the change. */
export function addressChangeNoticeEmail(
  to: string,
  { email, state }: { email: string; state: 'ASKED' | 'DONE' },
  link: string,
): Mail {
  const said =
    state === 'ASKED'
      ? `A change of your Marquee account's email address to ${email} was requested. It takes effect when the new address is confirmed.`
      : `The email address of your Marquee account was changed to ${email}. No more emails will be sent to this address.`;
  return {
    kind: 'email-changing',
    to,
    subject: state === 'ASKED' ? 'Your email address is being changed' : 'Your email address was changed',
    text: `${said}

If this wasn't you, your password is known to someone else. To keep this address and choose a new password, open this link within 7 days:

${link}
`,
  };
}

export function newLocationEmail(to: string, { ip, at }: { ip: string; at: Date }, link: string): Mail {
  return {
    kind: 'new-sign-in',
    to,
    subject: 'New sign-in to your account',
    text: `Your Marquee account was signed in to from a new IP address:

${ip.replace(/^::ffff:(?=\d+\.)/i, '')}, at ${at.toISOString()}

If this was you, or a service that signs in for you, no action is needed. If not, reset your password immediately:

${link}
`,
  };
}

export function twoFactorChangedEmail(to: string, isOn: boolean, link: string): Mail {
  return {
    kind: 'two-factor-changed',
    to,
    subject: `Two-factor authentication was turned ${isOn ? 'on' : 'off'}`,
    text: `Two-factor authentication was turned ${isOn ? 'on' : 'off'} for your Marquee account, and all other devices were signed out. API keys are not affected.

If this wasn't you, reset your password immediately and review your API keys:

${link}
`,
  };
}
