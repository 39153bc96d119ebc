import { Anchor, Group, Paper, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { CopyField } from '../../components/copy-field.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { splitLinks } from './mail-text.ts';

export function MailPage() {
  const { t } = useTranslation('mailbox');
  const { mailId } = useParams({ from: '/workspace/mailbox/$mailId' });
  const mail = $api.useQuery('get', '/admin/mails/{id}', { params: { path: { id: mailId } } });
  return (
    <Stack>
      <TextLink to="/mailbox">{t('back')}</TextLink>
      <PageHeader title={mail.data?.data.subject ?? t('title')} />
      <Loaded query={mail}>{({ data }) => <Mail mail={data} />}</Loaded>
    </Stack>
  );
}

function Mail({ mail: { to, kind, createdAt, text } }: { mail: Shape<'MailWithText'> }) {
  const { t } = useTranslation('mailbox');
  const pieces = splitLinks(text ?? '', window.location);
  const links = pieces.filter(({ href }) => href !== null);
  return (
    <>
      <Group gap="xs">
        <Text size="sm" className="breaks">
          {t('to')} <bdi>{to}</bdi>
        </Text>
        <Text size="sm" c="dimmed">
          {kind}, <RelativeTime at={createdAt} />
        </Text>
      </Group>
      <Paper withBorder p="lg">
        {text === null ? (
          <Text>{t('gone')}</Text>
        ) : (
          <Text component="div" className="breaks mail-text" lang="en" dir="auto">
            {pieces.map(({ at, words, href }) =>
              href === null ? (
                words
              ) : (
                <Anchor key={at} href={href}>
                  {words}
                </Anchor>
              ),
            )}
          </Text>
        )}
      </Paper>
      {links.map(({ at, words }) => (
        <CopyField key={at} label={t('link')} description={t('linkHint')} value={words} />
      ))}
    </>
  );
}
