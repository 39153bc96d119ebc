import { Alert, Badge, Group, NativeSelect, Paper, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Account, isOwnerClass, useAccount } from '../../app/account.ts';
import { $api, queries } from '../../app/api.ts';
import { useMode } from '../../app/mode.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Meter } from '../../components/meter.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { Invitations } from './invitations.tsx';
import { GIVEN_ROLES, givenRole } from './roles.ts';

type Member = Shape<'TeamMember'>;

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/team'] });

/** Lists the team members and their roles. */
export function TeamPage() {
  const { t } = useTranslation('team');
  const account = useAccount();
  const isLive = useMode() === 'live';
  const mayChange = isLive && isOwnerClass(account);
  const team = $api.useQuery('get', '/team');
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      {!isLive && <Alert color="yellow">{t('liveOnly')}</Alert>}
      <Loaded query={team}>
        {({ data: { seatsUsed, seatsLimit, members } }) => (
          <>
            <Meter label={t('seats')} used={seatsUsed} limit={seatsLimit} note={t('seatsNote')} />
            <Stack>
              {members.map((member) => (
                <MemberCard key={member.id} member={member} account={account} mayChange={mayChange} />
              ))}
            </Stack>
          </>
        )}
      </Loaded>
      <Invitations mayChange={mayChange} />
      <TimeZoneNote />
    </Stack>
  );
}

interface CardProps {
  member: Member;
  account: Account;
  mayChange: boolean;
}

function MemberCard({ member, account, mayChange }: CardProps) {
  const { t } = useTranslation('team');
  const { teamRole, status, email, lastActiveAt } = member;
  const name = member.name ?? email;
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Group justify="space-between">
        <Stack gap={2} miw={0} flex="1 1 16rem">
          <Group gap="xs">
            <Title order={2} size="h5" className="breaks">
              <bdi>{name}</bdi>
            </Title>
            {status === 'SUSPENDED' && (
              <Badge color="red" variant="light">
                {t('suspended')}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed" className="breaks">
            {email}
            {' · '}
            {lastActiveAt === null ? (
              t('neverActive')
            ) : (
              <>
                {t('lastActive')} <RelativeTime at={lastActiveAt} />
              </>
            )}
          </Text>
        </Stack>
        {mayChange && teamRole !== 'OWNER' ? (
          <Changes member={member} name={name} accountName={account.name} />
        ) : (
          <Badge variant="light">{t(`role.${teamRole}`)}</Badge>
        )}
      </Group>
    </Paper>
  );
}

function Changes({ member, name, accountName }: { member: Member; name: string; accountName: string }) {
  const { t } = useTranslation('team');
  const params = { path: { id: member.id } };
  const change = $api.useMutation('patch', '/team/members/{id}', { onSettled: refresh });
  const remove = $api.useMutation('delete', '/team/members/{id}', { onSuccess: refresh });
  return (
    <Group gap="xs">
      <NativeSelect
        aria-label={t('roleOf', { name })}
        value={member.teamRole}
        disabled={change.isPending}
        data={GIVEN_ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
        onChange={(event) =>
          change.mutate({ params, body: { teamRole: givenRole(event.currentTarget.value) } })
        }
      />
      <ConfirmAction
        label={t('remove')}
        title={t('removeTitle', { name })}
        text={t('removeText', { account: accountName })}
        onConfirm={() => remove.mutateAsync({ params })}
        isPending={remove.isPending}
      />
    </Group>
  );
}
