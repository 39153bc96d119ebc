import type { AssignableRole } from './repository.ts';

const ROLES: Record<AssignableRole, string> = {
  ADMIN: 'administrator',
  EDITOR: 'editor',
  ANALYST: 'analyst',
};

interface Invitation {
  email: string;
  teamRole: AssignableRole;
  /** Name of the inviting account. */
  accountName: string;
  link: string;
}

/** Returns a plain-text email; a chosen display name occupies a single line. */
export function invitationEmail({ email, teamRole, accountName, link }: Invitation) {
  return {
    kind: 'team-invitation',
    to: email,
    subject: "You've been invited to a team",
    text: `You are invited to join this Marquee account as an ${ROLES[teamRole]}:

${accountName.replaceAll(/\s+/g, ' ')}

To accept, open this link within 7 days. You can create a Marquee account there if you do not have one:

${link}

If you do not recognize the sender, ignore this email.
`,
  };
}
