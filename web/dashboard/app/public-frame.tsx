import { Box, Container, Group, Paper } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Brand } from '../components/brand.tsx';
import { AccountPanel } from './account-panel.tsx';

/** The frame of the pages before the sign-in. */
export function PublicFrame() {
  const { t } = useTranslation();
  return (
    <>
      <a className="skip-link" href="#main">
        {t('skip')}
      </a>
      <Box component="header" p="md">
        <Group justify="space-between">
          <Brand />
          <AccountPanel />
        </Group>
      </Box>
      <Container size={480} py="xl" component="main" id="main" tabIndex={-1}>
        <Paper withBorder p={{ base: 'md', sm: 'xl' }}>
          <Outlet />
        </Paper>
      </Container>
    </>
  );
}
