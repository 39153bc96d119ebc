import { Button, Group, NativeSelect, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { GIVEN_ROLES, givenRole } from './roles.ts';

function refresh() {
  void queries.invalidateQueries({ queryKey: ['get', '/team'] });
  return queries.invalidateQueries({ queryKey: ['get', '/team/invitations'] });
}

/** Lists pending invitations, and sends new ones. */
export function Invitations({ mayChange }: { mayChange: boolean }) {
  const { t } = useTranslation('team');
  const invitations = $api.useInfiniteQuery(
    'get',
    '/team/invitations',
    { params: { query: { status: ['PENDING'] } } },
    byCursor,
  );
  return (
    <Stack>
      <Title order={2} size="h4">
        {t('invitations')}
      </Title>
      {mayChange && <InviteForm />}
      <CursorList query={invitations} empty={<Text c="dimmed">{t('noInvitations')}</Text>}>
        {(rows) => (
          <Stack>
            {rows.map((invitation) => (
              <InvitationCard key={invitation.id} invitation={invitation} mayChange={mayChange} />
            ))}
          </Stack>
        )}
      </CursorList>
    </Stack>
  );
}

function InviteForm() {
  const { t } = useTranslation('team');
  const form = useForm({
    initialValues: { email: '', teamRole: 'EDITOR' },
    validate: { email: (email) => (email.trim() === '' ? t('missingEmail') : null) },
  });
  useUnsaved(form);
  const invite = $api.useMutation('post', '/team/invitations', {
    meta: { errors: 'form' },
    onSuccess: ({ data }) => {
      showSuccess(t('sent', { email: data.email }));
      form.reset();
      return refresh();
    },
    onError: formErrors(form),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ email, teamRole }) =>
        invite.mutate({ body: { email: email.trim(), teamRole: givenRole(teamRole) } }),
      )}
    >
      <Stack maw={640}>
        <TextInput
          {...form.getInputProps('email')}
          label={t('email')}
          description={t('emailHint')}
          type="email"
          required
          dir="ltr"
        />
        <NativeSelect
          {...form.getInputProps('teamRole')}
          label={t('roleLabel')}
          data={GIVEN_ROLES.map((value) => ({
            value,
            label: `${t(`role.${value}`)}: ${t(`roleMeans.${value}`)}`,
          }))}
        />
        <Group>
          <Button type="submit" loading={invite.isPending}>
            {t('invite')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface CardProps {
  invitation: Shape<'TeamInvitation'>;
  mayChange: boolean;
}

function InvitationCard({ invitation: { id, email, teamRole, createdAt }, mayChange }: CardProps) {
  const { t } = useTranslation('team');
  const revoke = $api.useMutation('delete', '/team/invitations/{id}', { onSuccess: refresh });
  return (
    <Paper withBorder p="md" component="article" aria-label={email}>
      <Group justify="space-between">
        <Stack gap={2} miw={0} flex="1 1 16rem">
          <Text className="breaks">{email}</Text>
          <Text size="sm" c="dimmed">
            {t(`role.${teamRole}`)}
            {' · '}
            {t('asked')} <RelativeTime at={createdAt} />
          </Text>
        </Stack>
        {mayChange && (
          <ConfirmAction
            label={t('revoke')}
            title={t('revokeTitle', { email })}
            text={t('revokeText')}
            onConfirm={() => revoke.mutateAsync({ params: { path: { id } } })}
            isPending={revoke.isPending}
          />
        )}
      </Group>
    </Paper>
  );
}
