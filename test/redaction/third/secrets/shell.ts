import { again, plain, secretTexts } from '../corpus.ts'
import { alphanumeric, jwt, password, phrase, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const shell = secretTexts('shell')`
export OPENAI_API_KEY=${v.openaiProject} && python main.py
%%
$ ANTHROPIC_API_KEY=${v.anthropic} npx tsx scripts/eval.ts --suite smoke
Running 12 cases…
%%
curl -s https://api.example.com/v1/models -H "Authorization: Bearer ${v.openaiLegacy}" | jq '.data[].id'
%%
curl -u admin:${weak} http://localhost:9200/_cluster/health?pretty
%%
curl -X POST -H 'Content-Type: application/json' -d '{"text":"deploy done"}' https://hooks.slack.com/services/${v.slackHookPath}
%%
curl --request GET 'https://api.example.com/v2/orders' \
  --header 'X-Api-Key: ${v.generic}' \
  --header 'Accept: application/json'
%%
mysql -h db.internal -u root -p${urlPassword} shop < dump.sql
%%
mysqldump --user=backup --password=${weak} --all-databases > all.sql
%%
PGPASSWORD=${password} psql -h db.internal -U postgres -d app -c 'select count(*) from users'
%%
psql "postgresql://analytics:${urlPassword}@warehouse.internal:5439/dwh?sslmode=require" -c '\dt'
%%
mongosh "mongodb://root:${urlPassword}@mongo-0.internal:27017/admin?replicaSet=rs0"
%%
redis-cli -h cache.internal -a '${strong}' INFO memory
%%
sshpass -p '${weak}' ssh deploy@10.0.4.17 'systemctl restart api'
%%
git clone https://oauth2:${v.gitlabPersonal}@git.example.com/data/etl.git
Cloning into 'etl'...
remote: Enumerating objects: 1832, done.
%%
git remote set-url origin https://x-access-token:${v.githubApp}@git.example.com/acme/api.git
git push origin HEAD:refs/heads/fix/login
%%
echo "${v.dockerToken}" | docker login --username ci-bot --password-stdin
Login Succeeded
%%
docker login images.example.com -u robot -p ${v.letters32}
WARNING! Using --password via the CLI is insecure. Use --password-stdin.
%%
docker run -d --name pg -e POSTGRES_PASSWORD=${weak} -e POSTGRES_USER=app -p 5432:5432 postgres:16
%%
gh auth login --with-token <<< "${v.githubClassic}"
%%
aws configure set aws_access_key_id ${v.awsId}
aws configure set aws_secret_access_key ${v.awsSecret}
aws configure set region us-west-2
%%
kubectl create secret generic db-credentials -n prod --from-literal=username=app --from-literal=password='${strong}'
%%
helm upgrade --install api ./chart --set image.tag=1.4.2 --set auth.password=${alphanumeric} --set auth.jwtSecret=${v.letters64}
%%
vault login ${v.vault}
vault kv put secret/app api_key=${v.letters32} db_password=${password}
%%
heroku config:set SECRET_KEY_BASE=${v.hex64} MAILGUN_API_KEY=${v.mailgun} --app shop-prod
%%
openssl enc -d -aes-256-cbc -in backup.tar.enc -out backup.tar -pass pass:${password}
%%
openssl pkcs12 -in cert.pfx -nodes -passin pass:${weak}
%%
7z x -p${phrase} archive.7z
%%
ldapsearch -x -H ldap://ldap.internal -D "cn=admin,dc=example,dc=com" -w ${weak} -b "dc=example,dc=com" "(uid=jdoe)"
%%
wget --user=reports --password='${password}' https://files.example.com/daily.csv
%%
http POST https://api.example.com/login username=jane password=${weak}
HTTP/1.1 200 OK
%%
rclone config create backup s3 provider=Other access_key_id=${v.alibabaId} secret_access_key=${v.alibabaSecret} endpoint=s3.example.org
%%
$ env | sort | grep -iE 'key|token|pass'
CI_JOB_TOKEN=${v.letters32}
DB_PASSWORD=${strong}
NPM_TOKEN=${v.npmToken}
TF_TOKEN_app_example_com=${v.terraformCloud}
%%
$ history | tail -4
  501  cd api
  502  export STRIPE_KEY=${v.stripeLive}
  503  htpasswd -bc .htpasswd admin ${weak}
  504  history | tail -4
%%
$env:AZURE_CLIENT_SECRET = "${v.azureClientSecret}"
az login --service-principal -u ${plain(v.uuid)} -p ${again(v.azureClientSecret)} --tenant ${plain(v.uuid)}
%%
$cred = New-Object PSCredential("corp\svc", (ConvertTo-SecureString "${weak}" -AsPlainText -Force))
%%
net use Z: \\files.internal\share /user:CORP\backup ${weak}
%%
echo 'deploy:${weak}' | sudo chpasswd
%%
twine upload -u __token__ -p ${v.pypiToken} dist/*
%%
npm config set //packages.example.com/:_authToken ${v.npmToken}
%%
sudo tailscale up --authkey=${v.tailscale} --hostname=runner-3
%%
SNYK_TOKEN=${v.uuid} snyk test --all-projects
%%
wscat -c "wss://stream.example.com/ws?token=${jwt}"
Connected (press CTRL+C to quit)
%%
curl "https://maps.example.com/geocode/json?address=Wien&key=${v.googleKey}"
%%
stripe listen --api-key ${v.stripeTest} --forward-to localhost:4242/webhook
> Ready! Your webhook signing secret is ${v.stripeHook} (^C to quit)
%%
export DATABASE_URL='postgres://u_ci:${urlPassword}@10.1.2.3/ci'; pnpm prisma migrate deploy
%%
ansible-playbook site.yml -i hosts -e "ansible_become_password=${weak}"
%%
wandb login ${v.wandb}
wandb: Appending key for api to your netrc file
%%
huggingface-cli login --token ${v.huggingFace}
%%
smbclient //nas.internal/media -U 'anna%${weak}'
%%
expect "Password:" { send "${weak}\r" }
%%
read -r TOKEN <<EOT
${v.githubFine}
EOT
`
