import type { GivenRole } from './repository.ts';

const ROLES: Record<GivenRole, string> = {
  ADMIN: 'administrator',
  EDITOR: 'editor',
  ANALYST: 'analyst',
};

interface Invitation {
  email: string;
  teamRole: GivenRole;
  /** Of the account that invites. */
  accountName: string;
  link: string;
}

/** Plain text; what somebody chose as their name stands on one line. */
export function invitationMail({ email, teamRole, accountName, link }: Invitation) {
  return {
    kind: 'team-invitation',
    to: email,
    subject: "You've been invited to a team",
    text: `You are invited to work in this Marquee account, as an ${ROLES[teamRole]}:

${accountName.replaceAll(/\s+/g, ' ')}

Open this link within 7 days to accept. Without a Marquee account yet, it lets you make one:

${link}

If you do not know who this is from, do nothing.
`,
  };
}
