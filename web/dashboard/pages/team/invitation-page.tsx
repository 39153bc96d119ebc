import { Button, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { chooseAccount } from '../../app/account.ts';
import { loadSession, useSession } from '../../app/session.ts';
import { discardAndLeave } from '../../app/sign-out.ts';
import { useFormat } from '../../components/format.ts';
import { ButtonLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { acceptInvitation, type Preview, previewInvitation } from './invitation.ts';

/** Renders the target of an invitation link: sign in or create an account, then accept. */
export function InvitationPage() {
  const { t } = useTranslation('team');
  const { token } = useParams({ from: '/public/invitations/$token' });
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => previewInvitation(token),
    retry: false,
  });
  const isUnknown = preview.error?.status === 404;
  return (
    <Stack>
      <PageHeader title={t('invitation.title')} />
      {isUnknown ? (
        <Text>{t('invitation.unknown')}</Text>
      ) : (
        <Loaded query={preview}>{(found) => <Invitation token={token} preview={found} />}</Loaded>
      )}
    </Stack>
  );
}

function Invitation({ token, preview }: { token: string; preview: Preview }) {
  const { t } = useTranslation('team');
  const { dateTime } = useFormat();
  const { accountName, email, teamRole, status, expiresAt } = preview;
  if (status !== 'PENDING') return <Text>{t(`invitation.${status}`)}</Text>;
  return (
    <>
      <Text className="breaks">{t('invitation.text', { name: accountName, email })}</Text>
      <Text>{t(`roleMeans.${teamRole}`)}</Text>
      <Answer token={token} email={email} />
      <Text size="sm" c="dimmed">
        {t('invitation.until', { at: dateTime(expiresAt) })}
      </Text>
    </>
  );
}

/**
 * Accepts the invitation. Visitors sign in or create an account first; the invitation is for one email
 * address.
 */
function Answer({ token, email }: { token: string; email: string }) {
  const { t } = useTranslation('team');
  const session = useSession();
  const accept = useMutation({
    mutationFn: () => acceptInvitation(token),
    onSuccess: async ({ accountId }) => {
      await loadSession();
      await chooseAccount(accountId);
    },
  });
  const next = `/invitations/${token}`;
  if (session === null) {
    return (
      <>
        <ButtonLink to="/sign-in" search={{ next }}>
          {t('invitation.signIn')}
        </ButtonLink>
        <ButtonLink to="/sign-up" search={{ next, invite: token, email }} variant="default">
          {t('invitation.signUp')}
        </ButtonLink>
      </>
    );
  }
  if (session.user.email !== email) {
    return (
      <>
        <Text className="breaks">{t('invitation.other', { email: session.user.email })}</Text>
        <Button variant="default" onClick={() => void discardAndLeave()}>
          {t('invitation.signOut')}
        </Button>
      </>
    );
  }
  return (
    <Button onClick={() => accept.mutate()} loading={accept.isPending}>
      {t('invitation.accept')}
    </Button>
  );
}
