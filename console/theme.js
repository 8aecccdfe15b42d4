// Before anything is painted: browsers wait for a script that is no module.
try {
  document.documentElement.dataset.theme = localStorage.getItem('gps-console.theme') ?? 'system'
} catch {
  // Nothing is kept in this browser: then it is the system's.
}
