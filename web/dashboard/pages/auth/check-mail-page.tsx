import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { loadSession, resendVerification, useSession } from '../../app/session.ts';
import { discardAndLeave } from '../../app/sign-out.ts';
import { showSuccess } from '../../app/toasts.ts';
import { PageHeader } from '../../components/page-header.tsx';

/** Shown until the email is verified: the link in the email opens in another tab. */
export function CheckMailPage() {
  const { t } = useTranslation('auth');
  const navigate = useNavigate();
  const session = useSession();
  const look = useMutation({
    mutationFn: loadSession,
    onSuccess: (found) => {
      if (found?.user.emailVerified) return navigate({ to: '/', replace: true });
      if (found === null) return navigate({ to: '/sign-in', replace: true, search: {} });
      return undefined;
    },
  });
  const resend = useMutation({
    mutationFn: resendVerification,
    onSuccess: () => showSuccess(t('mail.sent')),
  });
  const { mutate } = look;
  useEffect(() => {
    const onFocus = () => mutate();
    window.addEventListener('focus', onFocus);
    return () => window.removeEventListener('focus', onFocus);
  }, [mutate]);
  return (
    <Stack>
      <PageHeader title={t('mail.title')} />
      <Text className="breaks">{t('mail.text', { email: session?.user.email ?? '' })}</Text>
      <Button onClick={() => look.mutate()} loading={look.isPending}>
        {t('mail.verified')}
      </Button>
      <Text role="status">{look.isSuccess && t('mail.notYet')}</Text>
      <Button variant="default" onClick={() => resend.mutate()} loading={resend.isPending}>
        {t('mail.again')}
      </Button>
      <Button variant="subtle" onClick={() => void discardAndLeave()}>
        {t('mail.signOut')}
      </Button>
    </Stack>
  );
}
