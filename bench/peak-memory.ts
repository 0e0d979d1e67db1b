// Preloaded into a command that is measured: says at its end how much memory it held at most, in KB.
process.on('exit', () => {
  process.stderr.write(`\npeak memory ${process.resourceUsage().maxRSS}\n`)
})
