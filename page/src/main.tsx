import { render } from 'preact';
import { watchServer } from './api/connection';
import { followHistory } from './selection/current';
import { followStore } from './selection/live';
import { listenForKeys } from './shell/keys';
import { Page } from './shell/page';
import { followTheme } from './shell/theme';
import './shell/style.css';

const root = document.getElementById('page');
if (root === null) throw new Error('index.html has no element #page');
followTheme();
followHistory();
listenForKeys();
watchServer();
followStore();
root.textContent = '';
render(<Page />, root);
