import { Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';

const LOOK_MS = 3000;

/**
 * Lists the emails of the development mailbox, newest first, so that their links can be used without a mail
 * server.
 */
export function MailboxPage() {
  const { t } = useTranslation('mailbox');
  const mails = $api.useQuery('get', '/admin/mails', {}, { refetchInterval: LOOK_MS });
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Loaded query={mails}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('empty')} text={t('emptyText')} />
          ) : (
            <Stack gap="xs">
              {data.map((mail) => (
                <MailRow key={mail.id} mail={mail} />
              ))}
              <TimeZoneNote />
            </Stack>
          )
        }
      </Loaded>
    </Stack>
  );
}

function MailRow({ mail: { id, to, subject, createdAt } }: { mail: Shape<'Mail'> }) {
  const { t } = useTranslation('mailbox');
  return (
    <Paper withBorder p="sm">
      <TextLink to="/mailbox/$mailId" params={{ mailId: id }} className="breaks">
        <bdi>{subject}</bdi>
      </TextLink>
      <Text size="sm" className="breaks">
        {t('to')} <bdi>{to}</bdi>
      </Text>
      <Text size="sm" c="dimmed">
        <RelativeTime at={createdAt} />
      </Text>
    </Paper>
  );
}
